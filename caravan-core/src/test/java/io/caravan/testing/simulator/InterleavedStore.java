package io.caravan.testing.simulator;

import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;

import io.caravan.CaravanException;
import io.caravan.StoreConfig;
import io.caravan.WriteCallback;
import io.caravan.engine.Engine;
import io.caravan.engine.Worker;
import io.caravan.testing.CrashStorage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Runs the real engine on an in-memory disk, with a few threads that run one at a time. A seed chooses the running
 * thread at each lock, hand-over, and I/O call. Records the results of callbacks, to compare them with the contents of
 * the store.
 */
final class InterleavedStore {
    private static final int KIB = 1024;
    private static final StoreConfig CONFIG = StoreConfig.builder(Path.of("interleaved"))
            .maxValueBytes(3 * KIB)
            .logBufferBytes(8 * KIB)
            .logSegmentBytes(16 * KIB)
            .heapSegmentBytes(16 * KIB)
            .checkpointFloorBytes(64 * KIB)
            .build();

    final SplittableRandom random;
    final Engine engine;
    private final SimulatedScheduler scheduler;
    private final CrashStorage disk;
    private final List<User> users = new ArrayList<>();
    /** The acknowledged values by list and sequence. */
    private final Map<Long, Map<Long, String>> acknowledged = new TreeMap<>();

    private int accepted;
    private int completions;
    private int failed;

    InterleavedStore(long seed) throws IOException {
        random = new SplittableRandom(seed);
        SimulatedClock clock = new SimulatedClock();
        scheduler = SimulatedScheduler.interleaved(random.split(), clock);
        disk = new CrashStorage(seed);
        disk.director(call -> {
            scheduler.handOver();
            return CrashStorage.Outcome.PASS;
        });
        engine = Engine.open(CONFIG, disk, clock, scheduler);
    }

    /** A thread that uses the store, performing one task after another. */
    private final class User {
        private final Worker worker;
        private Interleaver.@Nullable Task task;
        private CompletableFuture<Void> done = new CompletableFuture<>();

        User(int number) {
            worker = scheduler.worker("user-" + number, this::step, this::broke);
            worker.start();
        }

        private void broke(Throwable problem) {
            done.completeExceptionally(problem);
        }

        private long step() {
            Interleaver.Task next = task;
            task = null;
            if (next != null) {
                try {
                    next.run();
                    done.complete(null);
                } catch (Exception problem) {
                    broke(problem);
                }
            }
            return Worker.UNTIL_WOKEN;
        }

        CompletableFuture<Void> begin(Interleaver.Task next) {
            task = next;
            done = new CompletableFuture<>();
            worker.wake();
            return done;
        }
    }

    /** Runs each task on its own thread, in an interleaving that the seed determines. Returns when all have ended. */
    void interleave(Interleaver.Task... tasks) {
        while (users.size() < tasks.length) {
            users.add(new User(users.size()));
        }
        CompletableFuture<?>[] all = new CompletableFuture<?>[tasks.length];
        for (int i = 0; i < tasks.length; i++) {
            all[i] = users.get(i).begin(tasks[i]);
        }
        scheduler.join(CompletableFuture.allOf(all));
    }

    /** Advances the time until the store no longer waits for a write group to be closed. */
    void letGroupsBeGivenUp() {
        scheduler.letTimePass(1_500_000);
        letOthersContinue();
    }

    /** Lets other threads run for a random number of switches. */
    void letOthersContinue() {
        for (int i = random.nextInt(16); i > 0; i--) {
            scheduler.letAnotherContinue();
        }
    }

    /** Returns a callback that, on success, records the value as acknowledged. */
    WriteCallback expecting(long id, String value) {
        accepted++;
        return new WriteCallback() {
            private boolean completed;

            @Override
            public void success(long sequence) {
                once();
                String before = acknowledged
                        .computeIfAbsent(id, unused -> new TreeMap<>())
                        .put(sequence, value);
                check(before == null, "sequence " + sequence + " was given to '" + before + "' and '" + value + "'");
            }

            @Override
            public void failure(CaravanException problem) {
                once();
                failed++;
            }

            private void once() {
                completions++;
                check(!completed, "'" + value + "' was completed twice");
                completed = true;
            }
        };
    }

    /** Records that the store rejected a write, whose callback must therefore not be called. */
    void rejected() {
        accepted--;
    }

    /** Appends a value that must differ from all others. */
    void append(long id, String value) {
        engine.append(id, bytes(value), expecting(id, value));
    }

    /** Returns the number of acknowledged appends to a list. */
    int acknowledged(long id) {
        return acknowledged.getOrDefault(id, Map.of()).size();
    }

    int failures() {
        return failed;
    }

    /** Checks that every accepted write is reported and present, both now and after a power cut. */
    void checkAll() throws IOException {
        engine.flush();
        checkResponses();
        checkContents(engine);
        checkAfterPowerCut();
    }

    void checkResponses() {
        check(completions == accepted, accepted + " writes were accepted, " + completions + " completed");
    }

    void checkAfterPowerCut() throws IOException {
        SimulatedClock clock = new SimulatedClock();
        checkContents(Engine.open(CONFIG, disk.powerCut(random), clock, new SimulatedScheduler(random.split(), clock)));
    }

    private void checkContents(Engine store) {
        acknowledged.forEach((id, values) -> {
            List<String> there = texts(store, id);
            values.forEach((sequence, value) ->
                    check(there.contains(sequence + ":" + value), "acknowledged and lost: " + sequence + ":" + value));
        });
    }

    static void check(boolean holds, String problem) {
        if (!holds) {
            throw new AssertionError(problem);
        }
    }

    /** Ends all steps that have stopped in the middle. */
    void end() {
        scheduler.end();
    }
}
