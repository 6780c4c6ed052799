package io.caravan.testing.simulator;

import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.each;
import static io.caravan.testing.simulator.InterleavedStore.check;

import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.StoreClosedException;
import io.caravan.WriteBatch;
import io.caravan.testing.StoreCalls;
import java.util.concurrent.atomic.AtomicLong;

/** Small programs that use one store from a few threads. The same invariants must hold after every interleaving. */
enum Interleavings {
    /**
     * Commits and flushes: the flusher abandons write groups while event loops close theirs and other threads write.
     */
    FLUSHES(25) {
        @Override
        void round(InterleavedStore store, int round) {
            Interleaver.Task emptyTurns = () -> {
                for (int i = 0; i < 4; i++) {
                    store.engine.group().closeAndFlush();
                }
            };
            store.interleave(
                    () -> {
                        ListStore.WriteGroup turn = store.engine.group();
                        store.append(1, "long turn " + round);
                        store.letGroupsBeGivenUp();
                        turn.closeAndFlush();
                    },
                    emptyTurns,
                    emptyTurns,
                    () -> {
                        store.letOthersContinue();
                        store.append(2, "plain " + round);
                    });
        }
    },

    /** The committed position, and reads that wait for it: no reader sees data that is not acknowledged. */
    READERS(25) {
        @Override
        void round(InterleavedStore store, int round) {
            Interleaver.Task reader = () -> {
                ListInfo info = store.engine.info(1);
                long seen = info == null ? 0 : info.nextSequence();
                check(
                        seen <= store.acknowledged(1),
                        "a reader saw " + seen + " entries, " + store.acknowledged(1) + " are acknowledged");
            };
            store.interleave(
                    () -> {
                        store.append(1, "first " + round);
                        store.append(1, "second " + round);
                    },
                    reader,
                    reader,
                    store.engine::flush);
        }
    },

    /** Checkpoints that run concurrently with appends, trims, and reads. */
    CHECKPOINTS(25) {
        @Override
        void round(InterleavedStore store, int round) {
            store.interleave(
                    store.engine::checkpoint,
                    () -> {
                        for (int i = 0; i < 3; i++) {
                            store.append(1, "kept " + round + "." + i);
                        }
                    },
                    () -> {
                        store.engine.append(2, bytes("trimmed"), StoreCalls.NO_CALLBACK);
                        store.engine.append(2, bytes(1000, round), StoreCalls.NO_CALLBACK);
                        store.engine.trim(2, 1, StoreCalls.NO_CALLBACK);
                    },
                    () -> {
                        AtomicLong next = new AtomicLong(-1);
                        store.engine.get(2, each((sequence, value) -> {
                            check(
                                    next.get() < 0 || next.get() == sequence,
                                    "sequence " + sequence + " came where " + next + " was to come");
                            next.set(sequence + 1);
                        }));
                    });
        }
    },

    /** Writers that must not wait, and one that may; together, they write more data than the log buffer holds. */
    TRIES(15) {
        @Override
        void round(InterleavedStore store, int round) {
            Interleaver.Task trier = () -> {
                for (int i = 0; i < 3; i++) {
                    String value = "x".repeat(1500) + round + "." + i;
                    long id = 3 + i;
                    WriteBatch batch = WriteBatch.create().append(id, bytes(value));
                    if (!store.engine.tryWrite(batch, store.expecting(id, value))) {
                        store.rejected();
                    }
                }
            };
            store.interleave(trier, trier, () -> {
                for (int i = 0; i < 3; i++) {
                    store.append(1, "y".repeat(2000) + round + "." + i);
                }
            });
            for (long id : new long[] {1, 3, 4, 5}) {
                store.engine.flush();
                check(store.failures() == 0, "a write failed");
            }
        }
    },

    /** A close that runs concurrently with all other calls to the store. */
    CLOSING(1) {
        @Override
        void round(InterleavedStore store, int round) {
            store.append(1, "first");
            store.engine.flush();
            store.interleave(
                    unlessClosed(store.engine::close),
                    unlessClosed(() -> {
                        ListStore.WriteGroup turn = store.engine.group();
                        append(store, "turn");
                        turn.closeAndFlush();
                    }),
                    unlessClosed(() -> append(store, "plain")),
                    unlessClosed(store.engine::checkpoint),
                    unlessClosed(() -> check(store.engine.info(1) != null, "a list is missing")),
                    unlessClosed(store.engine::close));
        }

        private void append(InterleavedStore store, String value) {
            try {
                store.append(1, value);
            } catch (StoreClosedException closed) {
                store.rejected();
                throw closed;
            }
        }

        private Interleaver.Task unlessClosed(Interleaver.Task task) {
            return () -> {
                try {
                    task.run();
                } catch (StoreClosedException closed) {
                    // The store may be closed at any time.
                }
            };
        }

        @Override
        void end(InterleavedStore store) throws Exception {
            store.checkResponses();
            check(store.failures() == 0, "a write failed");
            store.checkAfterPowerCut();
        }
    };

    private final int rounds;

    Interleavings(int rounds) {
        this.rounds = rounds;
    }

    /** Returns the number of interleavings that are explored one after another on the same store for each seed. */
    int rounds() {
        return rounds;
    }

    abstract void round(InterleavedStore store, int round);

    void end(InterleavedStore store) throws Exception {
        store.checkAll();
    }

    /** Explores the interleavings that belong to a seed. Throws if one fails. */
    void explore(long seed) throws Exception {
        InterleavedStore store = new InterleavedStore(seed);
        try {
            for (int i = 0; i < rounds; i++) {
                round(store, i);
            }
            end(store);
        } finally {
            store.end();
        }
    }

    /** Tries {@code seeds} seeds, and returns the first that fails, together with its failure; null if none fails. */
    static String firstFailure(String name, long firstSeed, int seeds) {
        Interleavings program = valueOf(name);
        for (long seed = firstSeed; seed < firstSeed + seeds; seed++) {
            try {
                program.explore(seed);
            } catch (Exception | AssertionError failure) {
                return "seed " + seed + ": " + failure;
            }
        }
        return null;
    }
}
