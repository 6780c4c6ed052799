package io.caravan.torture.group;

import io.caravan.torture.model.ListModel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks that each linearizable read of a list, and each concurrent change by the list's writer, took effect at one
 * moment between its beginning and its end. Each read must therefore show all changes that were acknowledged before it
 * began, and all changes shown by reads that had ended by then. It must not show a change that was sent after the read
 * ended.
 *
 * <p>Processes the events in order, and tracks all possible states of the list. A state includes the number of settled
 * changes: changes that were made, and unacknowledged changes that will never be made.
 */
final class LinearizabilityChecker {
    /** The completion time of a change whose acknowledgment never arrived. */
    static final long NEVER = Long.MAX_VALUE;

    /** A change to the list; times are those of {@link System#nanoTime()}. */
    record Change(NodeCall call, long sent, long completed, long reply) {
        boolean acknowledged() {
            return completed != NEVER;
        }
    }

    /** A read of the list: the contents that it returned, or null for a missing list, and the node that replied. */
    record Read(long began, long ended, @Nullable ListModel seen, String node) {
        private Observation observation() {
            return Observation.at(seen);
        }
    }

    /** The contents of a list as a reader sees them, represented by a fingerprint. */
    private record Observation(long first, long next, long digest) {
        private static final Observation MISSING = new Observation(-1, -1, 0);

        static Observation at(@Nullable ListModel list) {
            return list == null ? MISSING : new Observation(list.firstSequence(), list.nextSequence(), list.digest());
        }

        @Override
        public String toString() {
            return equals(MISSING) ? "missing" : "[" + first + ", " + next + ")";
        }
    }

    /**
     * A possible state of the list after some changes.
     *
     * @param settled number of changes that were made or omitted
     * @param shown open reads that may have shown this state, or an earlier state since they began
     */
    private record State(int settled, @Nullable ListModel list, Observation observation, Set<Integer> shown) {
        /** Treats states with the same fingerprint as equal, because they have the same possible successors. */
        @Override
        public boolean equals(Object other) {
            return other instanceof State that
                    && settled == that.settled
                    && observation.equals(that.observation)
                    && shown.equals(that.shown);
        }

        @Override
        public int hashCode() {
            return Objects.hash(settled, observation, shown);
        }
    }

    /**
     * The kinds of events. Events of the same nanosecond are processed in this order, the more permissive kinds first.
     */
    private enum Kind {
        SENT,
        BEGAN,
        COMPLETED,
        ENDED
    }

    private record Event(long time, Kind kind, int which) {}

    private final long list;
    private final List<Change> changes;
    private final List<Read> reads;
    private final Set<Integer> open = new HashSet<>();
    private Set<State> states = new HashSet<>();
    private int sent;

    private LinearizabilityChecker(long list, List<Change> changes, List<Read> reads) {
        this.list = list;
        this.changes = changes;
        this.reads = reads;
    }

    /**
     * Returns the problem with the reads and changes of a list, or null if they are linearizable.
     *
     * @param before the list before the changes and reads; null if it was missing
     * @param changes in the order in which they were made
     */
    static @Nullable String problem(long list, @Nullable ListModel before, List<Change> changes, List<Read> reads) {
        LinearizabilityChecker judge = new LinearizabilityChecker(list, changes, reads);
        judge.states.add(new State(0, before, Observation.at(before), Set.of()));
        for (Event event : judge.events()) {
            String problem = judge.happens(event);
            if (problem != null) {
                return problem;
            }
        }
        return null;
    }

    private List<Event> events() {
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < changes.size(); i++) {
            events.add(new Event(changes.get(i).sent(), Kind.SENT, i));
            if (changes.get(i).acknowledged()) {
                events.add(new Event(changes.get(i).completed(), Kind.COMPLETED, i));
            }
        }
        for (int i = 0; i < reads.size(); i++) {
            events.add(new Event(reads.get(i).began(), Kind.BEGAN, i));
            events.add(new Event(reads.get(i).ended(), Kind.ENDED, i));
        }
        events.sort(Comparator.comparingLong(Event::time).thenComparing(Event::kind));
        return events;
    }

    private @Nullable String happens(Event event) {
        switch (event.kind()) {
            case SENT -> sent++;
            case BEGAN -> open.add(event.which());
            case COMPLETED, ENDED -> {}
        }
        Set<State> possible = reachable();
        Set<State> left = new HashSet<>();
        for (State state : possible) {
            switch (event.kind()) {
                case SENT, BEGAN -> left.add(state);
                case COMPLETED -> {
                    if (state.settled() > event.which()) {
                        left.add(state);
                    }
                }
                case ENDED -> {
                    if (state.shown().contains(event.which())) {
                        left.add(without(state, event.which()));
                    }
                }
            }
        }
        if (event.kind() == Kind.ENDED) {
            open.remove(event.which());
        }
        states = left;
        return left.isEmpty() ? story(event, possible) : null;
    }

    /** Returns all states that the list may have at this point of the history. */
    private Set<State> reachable() {
        Set<State> reached = new HashSet<>();
        List<State> todo = new ArrayList<>();
        states.forEach(state -> todo.add(seen(state)));
        while (!todo.isEmpty()) {
            State state = todo.remove(todo.size() - 1);
            if (reached.add(state) && state.settled() < sent) {
                settle(state, changes.get(state.settled()), todo);
            }
        }
        return reached;
    }

    private void settle(State state, Change next, List<State> todo) {
        if (!next.acknowledged()) {
            todo.add(seen(new State(state.settled() + 1, state.list(), state.observation(), state.shown())));
        }
        Optional<ListModel> made = ListHistory.after(next.call(), Optional.ofNullable(state.list()));
        if (!next.acknowledged() || ListHistory.explains(next.call(), next.reply(), made)) {
            ListModel list = made.orElse(null);
            todo.add(seen(new State(state.settled() + 1, list, Observation.at(list), state.shown())));
        }
    }

    /** Returns a copy of the state that is marked as shown to all open reads whose results it matches. */
    private State seen(State state) {
        Set<Integer> shown = new HashSet<>(state.shown());
        open.stream()
                .filter(read -> reads.get(read).observation().equals(state.observation()))
                .forEach(shown::add);
        return new State(state.settled(), state.list(), state.observation(), shown);
    }

    private static State without(State state, int read) {
        Set<Integer> shown = new HashSet<>(state.shown());
        shown.remove(read);
        return new State(state.settled(), state.list(), state.observation(), shown);
    }

    private String story(Event event, Set<State> possible) {
        if (event.kind() != Kind.ENDED) {
            return "list " + list + ": " + changes.get(event.which())
                    + " does not follow from the earlier changes and the results of reads";
        }
        Read read = reads.get(event.which());
        StringBuilder story = new StringBuilder("list " + list + ": a linearizable read at node " + read.node()
                + " returned " + read.observation()
                + ", which was its state at no moment between the beginning and the end of the read"
                + " ("
                + (read.ended() - read.began()) / 1000 + " us); it was one of");
        possible.stream()
                .map(State::observation)
                .distinct()
                .forEach(observation -> story.append(' ').append(observation));
        story.append("; the changes around it:");
        for (Change change : changes) {
            if (Math.abs(change.sent() - read.began()) < 1_000_000_000) {
                story.append(System.lineSeparator())
                        .append("    ")
                        .append(change.call())
                        .append(" sent ")
                        .append((change.sent() - read.began()) / 1000)
                        .append(" us after the read began, ")
                        .append(
                                change.acknowledged()
                                        ? "acknowledged " + (change.completed() - read.began()) / 1000 + " us after"
                                        : "with an unknown outcome");
            }
        }
        return story.toString();
    }
}
