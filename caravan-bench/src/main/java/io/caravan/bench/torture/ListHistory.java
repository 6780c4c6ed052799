package io.caravan.bench.torture;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * All that a list may hold, after changes that were made one after another by one writer. Each change whose fate is
 * unknown doubles the possibilities; each acknowledgement, which tells a sequence, and each look at the list leaves
 * fewer. Empty means a missing list. For one thread at a time, but for {@link #shown}.
 */
final class ListHistory {
    /** The fate of a change that nobody has acknowledged. */
    static final long UNKNOWN = Long.MIN_VALUE;

    private static final int CALLS_TOLD = 12;
    /** A list rests for the remainder of a round when it has as many possibilities. */
    private static final int MANY = 64;

    private final long id;
    private final Deque<String> calls = new ArrayDeque<>();
    private final List<StrictReads.Change> changes = new ArrayList<>();
    private final Queue<StrictReads.Read> reads = new ConcurrentLinkedQueue<>();
    /** What it was when it was last looked at, before the changes and reads. */
    private Optional<ListModel> start = Optional.empty();

    private List<Optional<ListModel>> possible = List.of(Optional.empty());
    private @Nullable String contradiction;

    ListHistory(long id) {
        this.id = id;
    }

    long id() {
        return id;
    }

    /** Whether too much about it is unknown to go on before it is looked at. */
    boolean isVague() {
        return possible.size() >= MANY;
    }

    /**
     * A change was made, and this has just been acknowledged; or its fate is {@link #UNKNOWN}.
     *
     * @param sent when the change was asked for, by {@link System#nanoTime()}
     */
    void changed(HostCall call, long answer, long sent) {
        changes.add(
                new StrictReads.Change(call, sent, answer == UNKNOWN ? StrictReads.NEVER : System.nanoTime(), answer));
        remember(call + (answer == UNKNOWN ? ": fate unknown" : ": " + answer));
        List<Optional<ListModel>> after = new ArrayList<>();
        for (Optional<ListModel> before : possible) {
            Optional<ListModel> changed = after(call, before);
            if (answer == UNKNOWN) {
                after.add(before);
                after.add(changed);
            } else if (explains(call, answer, changed)) {
                after.add(changed);
            }
        }
        if (after.isEmpty() && contradiction == null) {
            contradiction = "list " + id + ": " + call + " was acknowledged with " + answer
                    + ", which nothing acknowledged before explains" + story();
        }
        // A contradicted list is reported; what follows is compared with what was believed before.
        possible = after.isEmpty() ? possible : after;
    }

    /** A strict read has shown it. By any thread, until the list is {@linkplain #found looked at}. */
    void shown(StrictReads.Read read) {
        reads.add(read);
    }

    /** Whether what a change was answered fits what the list was made. */
    static boolean explains(HostCall call, long answer, Optional<ListModel> made) {
        return call.kind() != HostCall.Kind.APPEND || made.orElseThrow().nextSequence() == answer + 1;
    }

    /** What a change makes of the list, which stays as it is. */
    static Optional<ListModel> after(HostCall call, Optional<ListModel> before) {
        Optional<ListModel> list = before.map(ListModel::copy);
        switch (call.kind()) {
            case APPEND -> {
                ListModel grown = list.orElseGet(() -> new ListModel(0));
                grown.append(ByteBuffer.wrap(call.value()));
                return Optional.of(grown);
            }
            case TRIM -> {
                list.ifPresent(kept -> kept.trimTo(call.number()));
                return list;
            }
            case DELETE -> {
                return Optional.empty();
            }
            default -> throw new IllegalArgumentException(call + " changes nothing");
        }
    }

    /** Compares with what the group has; returns the problem, or null. From here on it is what was found. */
    @Nullable
    String found(@Nullable ListModel found) {
        Optional<ListModel> is = Optional.ofNullable(found);
        boolean explained = possible.stream().anyMatch(should -> difference(should, is) == null);
        String problem = contradiction;
        if (problem == null) {
            problem = StrictReads.problem(id, start.orElse(null), changes, List.copyOf(reads));
        }
        if (problem == null && !explained) {
            problem = "list " + id + " is not as acknowledged, in none of the " + possible.size()
                    + " ways that unknown changes allow; in the last, it " + difference(last(), is) + story();
        }
        remember("found as "
                + is.map(list -> list.firstSequence() + " to " + list.nextSequence())
                        .orElse("missing"));
        possible = List.of(is);
        contradiction = null;
        start = is;
        changes.clear();
        reads.clear();
        return problem;
    }

    private Optional<ListModel> last() {
        return possible.get(possible.size() - 1);
    }

    private static @Nullable String difference(Optional<ListModel> should, Optional<ListModel> is) {
        if (should.isEmpty() || is.isEmpty()) {
            return should.isEmpty() == is.isEmpty() ? null : should.isEmpty() ? "should be missing" : "is missing";
        }
        return should.get().difference(is.get());
    }

    /** A sequence within the list, as far as is known. */
    long sequence(int behindFirst) {
        return last().map(list -> list.firstSequence() + Math.min(behindFirst, list.count()))
                .orElse(0L);
    }

    private void remember(String call) {
        calls.addLast(call);
        if (calls.size() > CALLS_TOLD) {
            calls.removeFirst();
        }
    }

    private String story() {
        return "; the last calls:" + System.lineSeparator() + "    "
                + String.join(System.lineSeparator() + "    ", calls);
    }
}
