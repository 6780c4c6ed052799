package io.caravan.testing.simulator;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.engine.Engine;
import io.caravan.format.EntryLayout;
import io.caravan.testing.Operation;
import io.caravan.testing.Outcome;
import io.caravan.testing.RandomOperations;
import io.caravan.testing.Value;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Simulates all users of the store: performs random operations and compares every result with the history. */
final class Client {
    private final StoreRun storeRun;
    private final Engine engine;
    private final History history;
    private final RandomOperations operations;
    private final SplittableRandom random;
    private final SplittableRandom levels;
    private boolean storeFailed;

    Client(StoreRun storeRun, Engine engine, long seed) {
        this.storeRun = storeRun;
        this.engine = engine;
        this.history = storeRun.history();
        this.operations = new RandomOperations(seed, Simulation.SHAPE, history.now());
        this.random = new SplittableRandom(seed);
        this.levels = new SplittableRandom(~seed);
    }

    /** Whether the store has failed after a fault and must be reopened. */
    boolean storeFailed() {
        return storeFailed;
    }

    /**
     * Performs a random operation.
     *
     * @param guest whether the operation runs within another call, so that it must not wait
     */
    void act(boolean guest) {
        Operation operation = atSomeLevel(operations.next());
        storeRun.story().note(() -> (guest ? "during this: " : "") + operation);
        if (operation instanceof Operation.Write write && storeRun.clientsFlush() && random.nextBoolean()) {
            writeAndFlush(write, guest);
        } else if (operation instanceof Operation.Write write) {
            write(write, guest);
        } else if (operation instanceof Operation.Get get && !guest) {
            readSlowly(get);
        } else if (operation instanceof Operation.Read read) {
            read(read, guest);
        } else if (!guest) {
            maintain(operation);
        }
    }

    /** Performs the next write operation. */
    void write() {
        Operation operation = atSomeLevel(operations.next());
        while (!(operation instanceof Operation.Write)) {
            operation = atSomeLevel(operations.next());
        }
        Operation.Write write = (Operation.Write) operation;
        storeRun.story().note(write::toString);
        write(write, false);
    }

    private Operation atSomeLevel(Operation operation) {
        if (!storeRun.mixesLevels() || levels.nextInt(3) == 0) {
            return operation;
        }
        if (operation instanceof Operation.Append append) {
            return new Operation.Batch(terms(WriteBatch.create().append(append.id(), append.value())));
        }
        if (operation instanceof Operation.Batch batch) {
            terms(batch.batch());
        }
        return operation;
    }

    private WriteBatch terms(WriteBatch batch) {
        batch.durability(Durability.values()[levels.nextInt(Durability.values().length)]);
        return levels.nextInt(4) == 0 ? batch.flushDelay(Duration.ofMillis(levels.nextInt(40))) : batch;
    }

    private void writeAndFlush(Operation.Write write, boolean guest) {
        ListStore.WriteGroup group = engine.group();
        try {
            write(write, guest);
        } finally {
            group.closeAndFlush();
        }
    }

    private void write(Operation.Write write, boolean guest) {
        storeRun.scheduler().undisturbed(() -> writeAndNote(write, guest));
        storeRun.scheduler().handOver();
    }

    private void writeAndNote(Operation.Write write, boolean guest) {
        Completion completion = new Completion();
        try {
            write.start(engine, completion);
        } catch (CaravanException rejected) {
            checkRejection(write, rejected, guest);
            return;
        }
        if (!storeRun.silent()) {
            completion.number = history.accept(write);
        }
    }

    private void checkRejection(Operation operation, CaravanException rejected, boolean guest) {
        storeRun.story().note(() -> "rejected: " + rejected);
        if (rejected instanceof StoreFailedException) {
            checkFailed(rejected);
        } else if (rejected instanceof StoreClosedException && storeRun.closing()) {
            storeRun.story().note(() -> "which is right");
        } else if (rejected instanceof OutOfSpaceException) {
            checkNoSpace(operation, rejected);
        } else if (!(guest && rejected instanceof NotWritableException)) {
            Outcome expected = operation.expect(history.now().copy());
            if (!expected.equals(Outcome.Rejected.of(rejected)) && !storeRun.silent()) {
                throw new SimulationFailure(operation + " should have come to " + expected, rejected);
            }
        }
    }

    /**
     * Checks that a rejection is justified: if the disk has space, the heap must be too full, or too fragmented for
     * values that must move there.
     */
    private void checkNoSpace(Operation operation, CaravanException rejected) {
        long usedBytes = engine.stats().heap().usedBytes();
        boolean tooFull = usedBytes + heapBytes(operation) > storeRun.heapBytes()
                || rejected.getMessage().contains("the heap has no hole");
        if (!storeRun.mayLackSpace() && !storeRun.silent() && !tooFull) {
            throw new SimulationFailure(
                    operation + " takes " + heapBytes(operation) + " bytes, " + usedBytes + " of "
                            + storeRun.heapBytes() + " are used",
                    rejected);
        }
    }

    private static long heapBytes(Operation operation) {
        if (operation instanceof Operation.Append append) {
            return EntryLayout.entryBytes(append.value().length);
        }
        if (operation instanceof Operation.AppendBuffer append) {
            return EntryLayout.entryBytes(append.value().length);
        }
        long bytes = 0;
        if (operation instanceof Operation.Batch batch) {
            for (WriteBatch.Operation part : batch.batch().operations()) {
                bytes += part instanceof WriteBatch.Append append ? EntryLayout.entryBytes(append.value().length) : 0;
            }
        }
        return bytes;
    }

    private void checkFailed(CaravanException problem) {
        storeFailed = true;
        if (!storeRun.faultHappened() && !storeRun.silent()) {
            throw new SimulationFailure("the store failed, though the disk did not", problem);
        }
    }

    private void read(Operation.Read read, boolean guest) {
        Outcome expected = read.expect(history.now());
        long change = changeSeenBy(read);
        long accepted = history.accepted();
        long lastChange = history.lastChange();
        long failures = history.forceFailures();
        storeRun.scheduler().undisturbedUntilLocked();
        Outcome outcome = read.perform(engine);
        if (storeRun.silent()) {
            return;
        }
        if (outcome instanceof Outcome.Rejected rejected && !outcome.equals(expected)) {
            checkNoResponse(read, rejected, guest);
        } else if (read instanceof Operation.ListAll) {
            if (accepted == history.accepted()) {
                compare(read, expected, outcome);
            }
            seen(lastChange, failures);
        } else {
            compare(read, expected, outcome);
            seen(change, failures);
        }
    }

    private static void compare(Operation read, Outcome expected, Outcome outcome) {
        if (!expected.equals(outcome)) {
            throw new SimulationFailure(read + " came to " + outcome + ", expected " + expected);
        }
    }

    private void checkNoResponse(Operation.Read read, Outcome.Rejected rejected, boolean guest) {
        if (rejected.exception().equals(StoreFailedException.class.getSimpleName())) {
            storeFailed = true;
        }
        if (storeRun.closing() && rejected.exception().equals(StoreClosedException.class.getSimpleName())) {
            return;
        }
        boolean wouldWait = guest && rejected.exception().equals(NotWritableException.class.getSimpleName());
        if (!wouldWait && !(storeFailed && storeRun.faultHappened())) {
            throw new SimulationFailure(read + " came to " + rejected);
        }
    }

    private long changeSeenBy(Operation.Read read) {
        if (read instanceof Operation.Get get) {
            return history.lastChangeOf(get.id());
        }
        if (read instanceof Operation.GetFrom get) {
            return history.lastChangeOf(get.id());
        }
        return read instanceof Operation.Info info ? history.lastChangeOf(info.id()) : -1;
    }

    /** Reads a list slowly, while other threads run. The stream must be the list as of the start of the read. */
    private void readSlowly(Operation.Get get) {
        Outcome expected = get.expect(history.now());
        long change = history.lastChangeOf(get.id());
        long failures = history.forceFailures();
        List<Value> values = new ArrayList<>();
        storeRun.scheduler().undisturbedUntilLocked();
        try {
            engine.get(get.id(), (sequence, value) -> {
                // Only once: an fsync that fails from here on may undo data that this reader reads later.
                if (values.isEmpty()) {
                    seen(change, failures);
                }
                values.add(new Value(sequence, copyOf(value)));
                storeRun.betweenEntries();
                return true;
            });
        } catch (StoreFailedException problem) {
            checkFailed(problem);
            return;
        } catch (StoreClosedException closed) {
            if (!storeRun.closing()) {
                throw new SimulationFailure(get + " found the store closed", closed);
            }
            return;
        }
        if (!storeRun.silent()) {
            compare(get, expected, new Outcome.Streamed(values));
            if (values.isEmpty()) {
                seen(change, failures);
            }
        }
    }

    /**
     * Records that a reader saw the effect of a write. Ignores reads after the end of the run, when the store still
     * runs for a moment.
     */
    private void seen(long write, long failuresBefore) {
        // An fsync that failed during the read may have undone data that the reader could see before.
        if (!storeRun.silent() && history.forceFailures() == failuresBefore) {
            history.seen(write);
        }
    }

    private static ByteBuffer copyOf(ByteBuffer value) {
        return ByteBuffer.allocate(value.remaining()).put(value).flip();
    }

    private void maintain(Operation operation) {
        try {
            long accepted = history.accepted();
            if (operation == Operation.Upkeep.FLUSH) {
                long failures = history.forceFailures();
                storeRun.scheduler().undisturbedUntilLocked();
                engine.flush();
                // Below SYNC, an fsync that has failed since then may have undone writes that the flush had reported.
                boolean holds = storeRun.flushForces() || history.forceFailures() == failures;
                if (!storeRun.silent() && holds) {
                    history.flushed(accepted);
                }
                if (storeRun.flushForces() && storeRun.scheduler().onFirstThread()) {
                    checkHeapUse();
                }
            } else {
                engine.checkpoint();
                if (!storeRun.silent()) {
                    history.checkpointed(accepted);
                }
            }
        } catch (StoreFailedException problem) {
            checkFailed(problem);
        } catch (CaravanException problem) {
            boolean closed = problem instanceof StoreClosedException && storeRun.closing();
            if (!storeRun.faultHappened() && !storeRun.silent() && !closed) {
                throw new SimulationFailure(operation + " failed, though the disk did not", problem);
            }
        }
    }

    /** Checks that trimmed and deleted values take no heap space once everything is flushed and all workers rest. */
    void checkHeapUse() {
        storeRun.letAllWork();
        long used = engine.stats().heap().usedBytes();
        if (!storeRun.silent()
                && !storeFailed
                && history.allCertain()
                && used != history.now().heapBytes()) {
            throw new SimulationFailure("the heap has " + used + " bytes in use, the live entries take "
                    + history.now().heapBytes());
        }
    }

    /** Checks the outcome of a write when its callback is called. */
    private final class Completion implements WriteCallback {
        private long number = -1;

        @Override
        public void success(long sequence) {
            if (!storeRun.silent()) {
                guarded(() -> {
                    storeRun.story().note(() -> "write " + number + " is acknowledged, sequence " + sequence);
                    history.acknowledged(number, sequence);
                });
            }
        }

        @Override
        public void failure(CaravanException problem) {
            if (!storeRun.silent()) {
                guarded(() -> {
                    storeRun.story().note(() -> "write " + number + " failed");
                    history.failed(number);
                    checkFailed(problem);
                });
            }
        }

        /**
         * Runs the action of a callback, and reports its failure to the run, because the store swallows exceptions of
         * callbacks.
         */
        private void guarded(Runnable action) {
            try {
                action.run();
            } catch (SimulationFailure failure) {
                storeRun.failed(failure);
            }
        }
    }
}
