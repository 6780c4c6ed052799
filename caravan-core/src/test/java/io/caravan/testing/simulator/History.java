package io.caravan.testing.simulator;

import io.caravan.Durability;
import io.caravan.testing.ModelLists;
import io.caravan.testing.Operation;
import io.caravan.testing.Outcome;
import io.caravan.testing.StoreContents;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * Every write that a store accepted, in order, and how many of them are certain: acknowledged, or seen by a reader, at a
 * level that survives the cut. What a cut leaves must be the state after the certain ones and some of those that follow,
 * in order.
 */
final class History {

    /** A write, and what its callback has to be told. */
    private record Accepted(long number, Operation.Write operation, Outcome expected, Durability level) {}

    private final ModelLists now;
    private final ModelLists base;
    private final Deque<Accepted> afterBase = new ArrayDeque<>();
    private final Map<Long, Long> lastChange = new HashMap<>();
    private long accepted;
    private long told;
    /** How many writes no cut may take back, and how many no end of the process alone may. */
    private long forced;

    private long written;
    private long lastForce = -1;
    private long forcedBeforeLastForce;
    private long forceFailures;
    private final Durability storeLevel;

    /** A history that starts in a state which is certain. */
    History(ModelLists state, Durability storeLevel) {
        this.storeLevel = storeLevel;
        this.base = state;
        this.now = state.copy();
    }

    /** The state that a store must show to whoever asks now. */
    ModelLists now() {
        return now;
    }

    /** How many writes were accepted. */
    long accepted() {
        return accepted;
    }

    /** How many writes a cut must leave: of the power, or of the process alone. */
    long certain(boolean powerLost) {
        return powerLost ? forced : written;
    }

    /** The store has taken a write; returns its number, by which it will be told of. */
    long accept(Operation.Write operation) {
        Map<Long, Place> before = new HashMap<>();
        operation.ids().forEach(id -> before.put(id, Place.of(now, id)));
        Outcome expected = operation.expect(now);
        if (!(expected instanceof Outcome.Written)) {
            throw new SimulationFailure(
                    "the store took a write that it had to refuse with " + expected + ": " + operation);
        }
        long number = accepted++;
        afterBase.add(new Accepted(number, operation, expected, levelOf(operation)));
        before.forEach((id, place) -> {
            if (!place.equals(Place.of(now, id))) {
                lastChange.put(id, number);
            }
        });
        return number;
    }

    private Durability levelOf(Operation.Write operation) {
        Durability wanted =
                operation instanceof Operation.Batch batch ? batch.batch().durability() : Durability.SYNC;
        return wanted.orWeaker(storeLevel);
    }

    private record Place(boolean there, long first, long next) {
        static Place of(ModelLists model, long id) {
            return new Place(model.contains(id), model.firstSequence(id), model.nextSequence(id));
        }
    }

    /**
     * A callback was told of success.
     *
     * @param force which force of the log it followed: writes of one force share a frame
     */
    void acknowledged(long number, long sequence, long force) {
        inOrder(number);
        Accepted write = at(number);
        Outcome expected = write.expected();
        if (!expected.equals(new Outcome.Written(sequence))) {
            throw new SimulationFailure(
                    "write " + number + " was told of sequence " + sequence + ", expected " + expected);
        }
        if (write.level() == Durability.SYNC && force != lastForce) {
            forcedBeforeLastForce = forced;
            lastForce = force;
            settle();
        }
        if (write.level() != Durability.NONE) {
            certainUpTo(number + 1, write.level());
        }
    }

    private void certainUpTo(long writes, Durability level) {
        written = Math.max(written, writes);
        forced = level == Durability.SYNC ? Math.max(forced, writes) : forced;
    }

    /** A callback was told of failure; what becomes of the write is open. */
    void failed(long number) {
        inOrder(number);
    }

    private void inOrder(long number) {
        if (number != told) {
            throw new SimulationFailure("write " + number + " was told of, when it was write " + told + "'s turn");
        }
        told++;
    }

    private Accepted at(long number) {
        for (Accepted write : afterBase) {
            if (write.number() == number) {
                return write;
            }
        }
        throw new SimulationFailure("write " + number + " was told of twice");
    }

    /** A reader saw this write's change, so that it and all before are as durable as each was to be, and written at least. */
    void seen(long number) {
        certainUpTo(number + 1, Durability.PROCESS);
        for (Accepted write : afterBase) {
            if (write.number() <= number && write.level() == Durability.SYNC) {
                certainUpTo(write.number() + 1, Durability.SYNC);
            }
        }
    }

    /** Everything accepted before the flush is as durable as the store promises. */
    void flushed(long writes) {
        certainUpTo(writes, storeLevel);
    }

    /** Everything accepted before the checkpoint survives a power cut. */
    void checkpointed(long writes) {
        certainUpTo(writes, Durability.SYNC);
    }

    /** What was written and not forced may be gone: a force has failed. */
    void forceFailed() {
        written = forced;
        forceFailures++;
    }

    /** How many forces of the log have failed. */
    long forceFailures() {
        return forceFailures;
    }

    /** Which write changed this list last; -1 when none did. */
    long lastChangeOf(long id) {
        return lastChange.getOrDefault(id, -1L);
    }

    /** Forgets the writes that are part of every state this may be compared with. */
    private void settle() {
        while (!afterBase.isEmpty() && afterBase.peekFirst().number() < Math.min(forcedBeforeLastForce, told)) {
            afterBase.removeFirst().operation().expect(base);
        }
    }

    /** Whether a write of this history survives any cut. */
    boolean hasForced() {
        return forced > 0;
    }

    /** Whether everything that was accepted survives any cut. */
    boolean allCertain() {
        return forced == accepted;
    }

    /** What damage to the frames of the last force may leave at the least. */
    long certainWithoutLastForce() {
        return Math.min(forcedBeforeLastForce, forced);
    }

    /**
     * The history that goes on from what was found.
     *
     * @param least how many writes it must contain
     * @throws SimulationFailure when no state of this history is the one found
     */
    History matching(StoreContents found, long least) {
        ModelLists state = base.copy();
        Iterator<Accepted> writes = afterBase.iterator();
        long contained = accepted - afterBase.size();
        while (true) {
            if (contained >= least && state.contents().equals(found)) {
                return new History(state, storeLevel);
            }
            if (!writes.hasNext()) {
                break;
            }
            writes.next().operation().expect(state);
            contained++;
        }
        throw new SimulationFailure(mismatch(found, least));
    }

    private String mismatch(StoreContents found, long least) {
        String all = Difference.between(now.contents(), found);
        String some = Difference.between(stateAfter(least).contents(), found);
        return "what is left is no state that there was after " + least + " to " + accepted
                + " writes\nwith all writes, " + all + "\nwith the certain ones alone, " + some;
    }

    private ModelLists stateAfter(long writes) {
        ModelLists state = base.copy();
        for (Accepted write : afterBase) {
            if (write.number() < writes) {
                write.operation().expect(state);
            }
        }
        return state;
    }
}
