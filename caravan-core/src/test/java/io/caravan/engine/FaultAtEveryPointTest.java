package io.caravan.engine;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreFailedException;
import io.caravan.VerifyReport;
import io.caravan.WriteCallback;
import io.caravan.inspect.Verifier;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import io.caravan.testing.WatchedScheduler;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests, for every call from a store's creation to its close, a disk on which that call fails, and a disk that is full
 * from that call on. Only typed exceptions are thrown, and everything acknowledged is present when the store is opened
 * again on a disk that works. Without the {@code thorough} profile, only one in {@value #QUICK_SHARE} of these calls
 * fails.
 */
@LongTimeout
class FaultAtEveryPointTest {
    private static final int QUICK_SHARE = 4;
    private static final int LIST = 1;
    private static final int APPENDS = 24;
    private static final int VALUE_BYTES = 3000;

    @Test
    @Tag("rounds")
    void diskFailureAtAnyPointLosesNothingAcknowledged() {
        Seeds.forEach(1, seed -> {
            int step = Rounds.of(QUICK_SHARE, 1);
            int point = 1 + Math.floorMod(seed, step);
            while (failsAt(point)) {
                point += step;
            }
            assertThat(point).as("points of failure").isGreaterThan(50);
        });
    }

    /** Runs the workload on a disk whose n-th call fails. Returns whether the workload made at least n calls. */
    private static boolean failsAt(int n) throws IOException {
        MemoryStorage disk = new MemoryStorage();
        FaultStorage faults = new FaultStorage(disk);
        Predicate<Call> nth = FaultStorage.nth(n, call -> call.kind() != Kind.CLOSE);
        boolean[] reached = {false};
        faults.fail(call -> {
            boolean fails = nth.test(call);
            reached[0] |= fails;
            return fails;
        });
        int acknowledged = work(faults);
        assertEverythingIsThere(disk, acknowledged, "failure at call " + n);
        return reached[0];
    }

    @Test
    void fullDiskFromAnyPointLosesNothingAcknowledged() throws IOException {
        int points = 0;
        while (isFullFrom(points)) {
            points++;
        }
        assertThat(points).as("files made").isGreaterThan(5);
    }

    /** Runs the workload on a disk with space for n files. Returns whether the workload tried to create more. */
    private static boolean isFullFrom(int n) throws IOException {
        MemoryStorage disk = new MemoryStorage();
        FaultStorage faults = new FaultStorage(disk);
        int[] made = {0};
        faults.fail(call -> call.kind() == Kind.CREATE && ++made[0] > n);
        int acknowledged = work(faults);
        assertEverythingIsThere(disk, acknowledged, "no file after the first " + n);
        return made[0] > n;
    }

    @Test
    void killedStoreOpensOnFullDiskAndResumesAppends() throws IOException {
        MemoryStorage killed;
        try (FaultyStore store = FaultyStore.open()) {
            store.appendMany(LIST, 10, 100);
            killed = store.disk.processKill();
        }
        FaultStorage full = new FaultStorage(killed);
        full.full(true);
        try (Engine engine = Engine.open(FaultyStore.small().build(), full, System::nanoTime)) {
            assertThat(engine.read(LIST)).hasSize(10);
            full.full(false);
            Eventually.await("appends resume", () -> appended(engine));
            assertThat(engine.read(LIST)).hasSize(11);
        }
    }

    private static boolean appended(ListStore store) {
        try {
            store.append(LIST, bytes(100, 1)).join();
            return true;
        } catch (CompletionException rejected) {
            assertThat(rejected).hasCauseInstanceOf(OutOfSpaceException.class);
            return false;
        }
    }

    /** Opens a store, appends, makes checkpoints, and closes the store. Returns the number of acknowledged appends. */
    private static int work(FaultStorage storage) {
        int acknowledged = 0;
        try (Engine engine = Engine.open(FaultyStore.small().build(), storage, System::nanoTime)) {
            for (int i = 0; i < APPENDS; i++) {
                engine.append(LIST, bytes(VALUE_BYTES, i)).join();
                acknowledged++;
                if (i % 8 == 7) {
                    engine.checkpoint();
                }
            }
        } catch (CompletionException rejected) {
            assertThat(rejected).hasCauseInstanceOf(CaravanException.class);
        } catch (CaravanException | IOException rejected) {
            // A caller may receive these exceptions; any other exception fails the test.
        }
        return acknowledged;
    }

    private static void assertEverythingIsThere(MemoryStorage disk, int acknowledged, String point) throws IOException {
        MemoryStorage left = disk.processKill();
        try (Engine engine = Engine.open(FaultyStore.small().build(), left, System::nanoTime)) {
            var entries = engine.read(LIST);
            assertThat(entries).as(point).hasSizeGreaterThanOrEqualTo(acknowledged);
            for (int i = 0; i < entries.size(); i++) {
                assertThat(entries.get(i).value()).as(point).isEqualTo(bytes(VALUE_BYTES, i));
            }
        }
        assertThat(Verifier.verify(left, VerifyReport.Progress.NONE).faults())
                .as(point)
                .isEmpty();
    }

    /** Checks that every accepted write calls its callback, wherever the flusher runs out of memory. */
    @Test
    void flusherErrorAtAnyPointReachesCallbacks() throws IOException {
        int points = 0;
        while (flusherFailsAt(points)) {
            points++;
        }
        assertThat(points).as("points of failure").isGreaterThan(3);
    }

    /** Appends to a store whose flusher fails at its n-th point from then on. Returns whether it reached that point. */
    private static boolean flusherFailsAt(int n) throws IOException {
        AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
        WatchedScheduler threads = new WatchedScheduler() {
            @Override
            public void handOver() {
                if (Thread.currentThread().getName().startsWith("caravan-flusher") && left.getAndDecrement() == 0) {
                    throw new OutOfMemoryError("on purpose");
                }
            }
        };
        Engine engine = Engine.open(FaultyStore.small().build(), new MemoryStorage(), System::nanoTime, threads);
        List<CompletableFuture<Long>> appends = new ArrayList<>();
        left.set(n);
        try (engine) {
            for (int i = 0; i < 3; i++) {
                CompletableFuture<Long> append = new CompletableFuture<>();
                engine.append(LIST, bytes(VALUE_BYTES, i), WriteCallback.completing(append));
                appends.add(append);
            }
            engine.flush();
        } catch (StoreFailedException failed) {
            assertThat(failed).hasRootCauseInstanceOf(OutOfMemoryError.class);
        }
        assertThat(appends).as("after an error at point " + n).allMatch(CompletableFuture::isDone);
        return left.get() < 0;
    }

    /** Returns a disk whose store has two checkpoints, several log and heap segments, and frames to replay. */
    private static MemoryStorage diskToReplay() {
        try (FaultyStore store = FaultyStore.open()) {
            for (int round = 0; round < 3; round++) {
                store.appendMany(round, 10, 3_000);
                store.engine.checkpoint();
            }
            append(store.engine, 9, "to be replayed");
            return store.disk.powerCut();
        }
    }

    /** Checks that an open leaves no file mapped, regardless of which call fails. */
    @Test
    void failedOpenLeavesNothingMapped() {
        MemoryStorage disk = diskToReplay();
        int rejected = 0;
        boolean reached = true;
        for (int n = 1; reached; n++) {
            int failing = n;
            AtomicInteger calls = new AtomicInteger();
            FaultStorage faults = new FaultStorage(disk.powerCut());
            faults.fail(call -> call.kind() != Kind.CLOSE && calls.incrementAndGet() == failing);
            try {
                Engine.open(FaultyStore.small().build(), faults, System::nanoTime)
                        .close();
            } catch (IOException | CaravanException expected) {
                rejected++;
            }
            assertThat(faults.mapped()).as("after a failure of call " + n).isZero();
            reached = calls.get() >= n;
        }
        assertThat(rejected).isGreaterThan(20);
    }
}
