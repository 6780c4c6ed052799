package io.caravan.testing.simulator;

import io.caravan.Durability;
import io.caravan.testing.ModelLists;
import io.caravan.testing.Operation;
import io.caravan.testing.Outcome;
import io.caravan.testing.StoreContents;
import io.caravan.testing.StoreContents.ListContents;
import io.caravan.testing.Value;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;

/**
 * Records every write that a store accepted, in order, and the number of writes that are certain to survive a cut. A
 * write is certain if it was acknowledged, or seen by a reader, at a level that survives the cut. After a cut, the
 * state must include all certain writes, and may include some of the following ones, in order.
 */
final class History {

    /** An accepted write, and the outcome that its callback must report. */
    private record Accepted(long number, Operation.Write operation, Outcome expected, Durability level) {}

    private final ModelLists now;
    private final ModelLists base;
    private final Deque<Accepted> afterBase = new ArrayDeque<>();
    private final Map<Long, Long> lastChange = new HashMap<>();
    private long newestChange = -1;
    private long accepted;
    private long completed;
    /** The number of writes that no cut may undo. {@link #written} counts those that no process kill may undo. */
    private long forced;

    private long written;
    private long frames;
    /** The number of frames when {@link #forced} last grew: the data of its newest writes may be in the last of them. */
    private long lastForcedFrames = -1;
    /** The number of writes that no cut may undo, even if the last fsynced frame is damaged. */
    private long forcedBeforeLastFrame;

    private long forceFailures;
    private final Durability storeLevel;

    /** Creates a history that begins with this state, which is certain. */
    History(ModelLists state, Durability storeLevel) {
        this.storeLevel = storeLevel;
        this.base = state;
        this.now = state.copy();
    }

    /** Returns the state that a store must show after all accepted writes. */
    ModelLists now() {
        return now;
    }

    /** Returns the number of accepted writes. */
    long accepted() {
        return accepted;
    }

    /**
     * Returns the number of writes that must survive a power cut or, if {@code powerLost} is false, a kill of the
     * process.
     */
    long certain(boolean powerLost) {
        return powerLost ? forced : written;
    }

    /** Records a write that the store has accepted. Returns its number, for its callback. */
    long accept(Operation.Write operation) {
        Map<Long, Place> before = new HashMap<>();
        operation.ids().forEach(id -> before.put(id, Place.of(now, id)));
        Outcome expected = operation.expect(now);
        if (!(expected instanceof Outcome.Written)) {
            throw new SimulationFailure(
                    "the store took a write that it had to reject with " + expected + ": " + operation);
        }
        long number = accepted++;
        afterBase.add(new Accepted(number, operation, expected, levelOf(operation)));
        before.forEach((id, place) -> {
            if (!place.equals(Place.of(now, id))) {
                lastChange.put(id, number);
                newestChange = number;
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

    /** Records that the store is writing a frame. */
    void frameWritten() {
        frames++;
    }

    /** Records that the callback of a write reported success. */
    void acknowledged(long number, long sequence) {
        inOrder(number);
        Accepted write = at(number);
        Outcome expected = write.expected();
        if (!expected.equals(new Outcome.Written(sequence))) {
            throw new SimulationFailure(
                    "write " + number + " was given sequence " + sequence + ", expected " + expected);
        }
        if (write.level() != Durability.MEMORY) {
            certainUpTo(number + 1, write.level());
        }
    }

    private void certainUpTo(long writes, Durability level) {
        written = Math.max(written, writes);
        if (level != Durability.SYNC || writes <= forced) {
            return;
        }
        // The last frame may contain these writes, however the store reported that they are durable.
        if (frames != lastForcedFrames) {
            forcedBeforeLastFrame = forced;
            lastForcedFrames = frames;
            settle();
        }
        forced = writes;
    }

    /** Records that the callback of a write reported a failure. The outcome of the write is unknown. */
    void failed(long number) {
        inOrder(number);
    }

    private void inOrder(long number) {
        if (number != completed) {
            throw new SimulationFailure("write " + number + " was completed before write " + completed + "'s turn");
        }
        completed++;
    }

    private Accepted at(long number) {
        for (Accepted write : afterBase) {
            if (write.number() == number) {
                return write;
            }
        }
        throw new SimulationFailure("write " + number + " was completed twice");
    }

    /**
     * Records that a reader saw the effect of a write. All writes up to it have been written, and have reached their
     * durability levels.
     */
    void seen(long number) {
        certainUpTo(number + 1, Durability.PROCESS);
        long synced = 0;
        for (Accepted write : afterBase) {
            if (write.number() <= number && write.level() == Durability.SYNC) {
                synced = write.number() + 1;
            }
        }
        certainUpTo(synced, Durability.SYNC);
    }

    /** Records that the writes accepted before a flush have reached the durability of the store. */
    void flushed(long writes) {
        certainUpTo(writes, storeLevel);
    }

    /** Records that the writes accepted before a checkpoint survive a power cut. */
    void checkpointed(long writes) {
        certainUpTo(writes, Durability.SYNC);
    }

    /** Records a failed fsync of the log. Data that was written and not fsynced may be lost. */
    void forceFailed() {
        written = forced;
        forceFailures++;
    }

    /** Returns the number of failed log fsyncs. */
    long forceFailures() {
        return forceFailures;
    }

    /** Returns the number of the last write that changed any list, or -1 if none did. A trim may change nothing. */
    long lastChange() {
        return newestChange;
    }

    /** Returns the number of the last write that changed this list, or -1 if none did. */
    long lastChangeOf(long id) {
        return lastChange.getOrDefault(id, -1L);
    }

    /** Applies to the base state the writes that every possible state includes. */
    private void settle() {
        while (!afterBase.isEmpty() && afterBase.peekFirst().number() < Math.min(forcedBeforeLastFrame, completed)) {
            afterBase.removeFirst().operation().expect(base);
        }
    }

    /** Whether every accepted write survives any cut. */
    boolean allCertain() {
        return forced == accepted;
    }

    /** Returns the minimum number of writes that survive if the last fsynced frame is damaged. */
    long certainWithoutLastFrame() {
        return forcedBeforeLastFrame;
    }

    /**
     * Returns the history that continues from the contents found after a cut.
     *
     * @param least the minimum number of writes in that state
     * @throws SimulationFailure if the history has no such state
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
        String all = difference(now.contents(), found);
        String some = difference(stateAfter(least).contents(), found);
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

    /** Describes the differences between the expected and the found contents. */
    private static String difference(StoreContents expected, StoreContents found) {
        List<String> lines = new ArrayList<>();
        TreeSet<Long> ids = new TreeSet<>(expected.lists().keySet());
        ids.addAll(found.lists().keySet());
        for (long id : ids) {
            ListContents wanted = expected.lists().get(id);
            ListContents there = found.lists().get(id);
            if (!Objects.equals(wanted, there)) {
                lines.add("list " + id + ": should be " + describe(wanted) + ", is " + describe(there)
                        + firstOther(wanted, there));
            }
        }
        return String.join("\n", lines);
    }

    private static String describe(ListContents list) {
        return list == null ? "missing" : list.info().toString();
    }

    private static String firstOther(ListContents wanted, ListContents there) {
        List<Value> expected = wanted == null ? List.of() : wanted.values();
        List<Value> found = there == null ? List.of() : there.values();
        for (int i = 0; i < Math.min(expected.size(), found.size()); i++) {
            if (!expected.get(i).equals(found.get(i))) {
                return "; first other value " + found.get(i) + " instead of " + expected.get(i);
            }
        }
        return "";
    }
}
