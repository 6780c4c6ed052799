package io.caravan.torture.group;

import io.caravan.torture.model.ListModel;
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
 * Tracks all possible contents of a list to which one writer makes one change after another. Each change whose outcome
 * is unknown doubles the number of possibilities. Each acknowledgment, which reports a sequence, and each check of the
 * list reduces the number. An empty {@code Optional} represents a missing list. Used by one thread at a time, except
 * for {@link #shown}.
 */
final class ListHistory {
    /** Represents the result of a change that the group has not acknowledged. */
    static final long UNKNOWN = Long.MIN_VALUE;

    private static final int CALLS_SHOWN = 12;
    /** The number of possible contents at which the writer stops changing the list for the rest of the round. */
    private static final int MANY = 64;

    private final long id;
    private final Deque<String> calls = new ArrayDeque<>();
    private final List<LinearizabilityChecker.Change> changes = new ArrayList<>();
    private final Queue<LinearizabilityChecker.Read> reads = new ConcurrentLinkedQueue<>();
    /** The contents of the list as of the last check, before the recorded changes and reads. */
    private Optional<ListModel> start = Optional.empty();

    private List<Optional<ListModel>> possible = List.of(Optional.empty());
    private @Nullable String contradiction;

    ListHistory(long id) {
        this.id = id;
    }

    long id() {
        return id;
    }

    /** Whether the list has so many possible contents that the writer must not change it before the next check. */
    boolean isVague() {
        return possible.size() >= MANY;
    }

    /**
     * Records a change that has just been acknowledged with this result, or whose result is {@link #UNKNOWN}.
     *
     * @param sent time of the request, by {@link System#nanoTime()}
     */
    void changed(NodeCall call, long reply, long sent) {
        changes.add(new LinearizabilityChecker.Change(
                call, sent, reply == UNKNOWN ? LinearizabilityChecker.NEVER : System.nanoTime(), reply));
        remember(call + (reply == UNKNOWN ? ": fate unknown" : ": " + reply));
        List<Optional<ListModel>> after = new ArrayList<>();
        for (Optional<ListModel> before : possible) {
            Optional<ListModel> changed = after(call, before);
            if (reply == UNKNOWN) {
                after.add(before);
                after.add(changed);
            } else if (explains(call, reply, changed)) {
                after.add(changed);
            }
        }
        if (after.isEmpty() && contradiction == null) {
            contradiction = "list " + id + ": " + call + " was acknowledged with " + reply
                    + ", which nothing acknowledged before explains" + story();
        }
        // The contradiction is reported, and later changes apply to the contents that were possible before.
        possible = after.isEmpty() ? possible : after;
    }

    /** Records a linearizable read. May be called by any thread until the list is {@linkplain #found checked}. */
    void shown(LinearizabilityChecker.Read read) {
        reads.add(read);
    }

    /** Whether the result of a change matches the contents of the list after the change. */
    static boolean explains(NodeCall call, long reply, Optional<ListModel> made) {
        return call.kind() != NodeCall.Kind.APPEND || made.orElseThrow().nextSequence() == reply + 1;
    }

    /** Returns the list after a change, without modifying the original. */
    static Optional<ListModel> after(NodeCall call, Optional<ListModel> before) {
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

    /**
     * Compares the list with the contents found in the group, and adopts these contents. Returns the problem, or null.
     */
    @Nullable
    String found(@Nullable ListModel found) {
        Optional<ListModel> is = Optional.ofNullable(found);
        boolean explained = possible.stream().anyMatch(should -> difference(should, is) == null);
        String problem = contradiction;
        if (problem == null) {
            problem = LinearizabilityChecker.problem(id, start.orElse(null), changes, List.copyOf(reads));
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

    /**
     * Returns the sequence {@code behindFirst} values after the first one in the last known contents, or the next
     * sequence if there are fewer values.
     */
    long sequence(int behindFirst) {
        return last().map(list -> list.firstSequence() + Math.min(behindFirst, list.count()))
                .orElse(0L);
    }

    private void remember(String call) {
        calls.addLast(call);
        if (calls.size() > CALLS_SHOWN) {
            calls.removeFirst();
        }
    }

    private String story() {
        return "; the last calls:" + System.lineSeparator() + "    "
                + String.join(System.lineSeparator() + "    ", calls);
    }
}
