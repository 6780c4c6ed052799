package io.caravan.server.archive.push;

import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.push.CrashCheck.CrashImage;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.Rounds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * A sequence of events, determined by a seed, for a host that archives and prunes. Documents change between passes and
 * between any two calls of a pass. Another process prunes, calls fail, and the host loses power and restarts.
 *
 * <p>The scenario checks the state after a crash at each call to the object store and at some calls to the disk.
 */
public final class CrashScenario {
    private static final List<String> NAMES = List.of("a", "b/../c", "\u0000\u00ff", "d", "e", "x".repeat(200));
    private static final int ROUNDS = Rounds.of(2, 5);
    private static final int MAX_CHANGES = 10;
    private static final int MAX_VALUE_CHARS = 3_000;
    private static final int DISK_CALLS_PER_IMAGE = 40;
    private static final Duration DAYS = Duration.ofDays(2);

    private final SplittableRandom random;
    private final SplittableRandom cuts;
    private final Queue<CrashImage> images = new ConcurrentLinkedQueue<>();
    private final CrashArchiveWatch watch;
    private final MemoryObjects objects;
    private final CrashModel model = new CrashModel(NAMES);
    /** The lock that is held during each document change, so that the store and the model change in the same order. */
    private final Object changing = new Object();

    private CrashStorage disk;
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private @Nullable CrashHost host;
    private @Nullable AssertionError failure;
    private boolean faulty;
    private boolean pruning;
    private long stamps;

    private CrashScenario(long seed) {
        random = new SplittableRandom(seed);
        cuts = random.split();
        disk = new CrashStorage(seed);
        objects = new MemoryObjects(() -> now);
        watch = new CrashArchiveWatch(objects);
    }

    /**
     * Runs the scenario of a seed and checks all crash images. Also runs in sabotaged builds.
     *
     * @throws AssertionError if a check fails; the message names the crash
     */
    public static void check(long seed) throws IOException {
        try {
            new CrashScenario(seed).run();
        } catch (ArchiveException damaged) {
            throw new AssertionError("the host finds its archive damaged: " + damaged.getMessage(), damaged);
        }
    }

    private void run() throws IOException {
        start();
        for (int round = 0; round < ROUNDS; round++) {
            change(1 + random.nextInt(MAX_CHANGES));
            faulty = random.nextInt(3) == 0;
            pass();
            if (random.nextInt(2) == 0) {
                prune();
            }
            now = now.plus(random.nextBoolean() ? DAYS : Duration.ofSeconds(1));
            if (random.nextInt(3) == 0) {
                restart();
            }
        }
        stop();
        checkImages();
        if (failure != null) {
            throw failure;
        }
    }

    private CrashHost host() {
        if (host == null) {
            throw new IllegalStateException("the host is down");
        }
        return host;
    }

    private void start() throws IOException {
        disk.director(call -> {
            beforeDiskCall(call.toString());
            return CrashStorage.Outcome.PASS;
        });
        MemoryObjectStore client = objects.client().faults((number, call, key) -> beforeObjectCall(call, key));
        host = new CrashHost(disk, client, () -> now, random.split()::nextLong);
    }

    private void stop() {
        disk.director(call -> CrashStorage.Outcome.PASS);
        host().close();
        host = null;
    }

    /** Restarts the host after a power cut. Acknowledged writes survive, so the model stays unchanged. */
    private void restart() throws IOException {
        CrashStorage left = disk.powerCut(cuts);
        stop();
        disk = left;
        start();
    }

    private void pass() {
        Map<String, Integer> lengths = model.lengths();
        if (host().pass()) {
            model.archived(lengths);
        }
    }

    /** Prunes without faults, because a failed prune leaves threads running for a while. */
    private void prune() {
        faulty = false;
        watch(false);
        pruning = true;
        host().prune();
        watch(true);
        pruning = false;
        checkImages();
    }

    /** Prunes as another process would, while the server is active. */
    private void pruneConcurrently() {
        watch(false);
        CrashHost.prune(Archive.open(objects.client()), now.toEpochMilli());
        watch(true);
    }

    /** Sometimes records a crash image. Runs on the threads of the store and on the thread that starts a host. */
    private synchronized void beforeDiskCall(String call) {
        if (cuts.nextInt(DISK_CALLS_PER_IMAGE) == 0) {
            image(call);
        }
    }

    /** Records a crash image and selects a fault. A prune lists and removes objects on different threads. */
    private ObjectFault beforeObjectCall(ObjectCall call, String key) {
        synchronized (this) {
            watch(pruning);
            image(call + " " + key);
        }
        if (!pruning) {
            checkImages();
        }
        synchronized (changing) {
            return host == null ? ObjectFault.NONE : concurrently();
        }
    }

    /** Makes random changes between two calls to the object store, and selects the fault for the next call. */
    private ObjectFault concurrently() {
        if (random.nextInt(4) == 0) {
            change(1);
        }
        if (!pruning && random.nextInt(30) == 0) {
            pruneConcurrently();
        }
        return faulty && random.nextInt(6) == 0 ? fault() : ObjectFault.NONE;
    }

    private ObjectFault fault() {
        return switch (random.nextInt(3)) {
            case 0 -> ObjectFault.REJECTED;
            case 1 -> ObjectFault.RESPONSE_LOST;
            default -> ObjectFault.TRIED_TWICE;
        };
    }

    private void image(String step) {
        synchronized (objects) {
            MemoryObjects copy = new MemoryObjects(() -> now);
            objects.keys("").forEach(key -> copy.put(key, objects.content(key)));
            CrashModel known;
            synchronized (model) {
                known = model.copy();
            }
            images.add(new CrashImage(disk.powerCut(cuts), copy, known, step));
        }
    }

    private void watch(boolean removing) {
        try {
            watch.look(removing);
        } catch (AssertionError found) {
            failure = failure == null ? found : failure;
        }
    }

    /**
     * Checks the recorded crash images. Must not run on the threads of a prune, which are interrupted. Keeps the first
     * failure for later, because the server would handle an exception between two calls as its own.
     */
    private void checkImages() {
        for (CrashImage image = images.poll(); image != null; image = images.poll()) {
            try {
                if (failure == null) {
                    new CrashCheck(image).run();
                }
            } catch (AssertionError found) {
                failure = found;
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
        }
    }

    private void change(int count) {
        synchronized (changing) {
            for (int i = 0; i < count; i++) {
                change(NAMES.get(random.nextInt(NAMES.size())));
            }
        }
    }

    private void change(String name) {
        CrashState last;
        synchronized (model) {
            last = model.last(name);
        }
        int dice = random.nextInt(10);
        if (last == null || dice < 6) {
            append(name, last == null ? new CrashState(0, List.of()) : last);
        } else if (dice < 8) {
            trim(name, last);
        } else {
            becomes(name, null);
            host().delete(name);
        }
    }

    private void append(String name, CrashState last) {
        List<String> added = new ArrayList<>();
        for (int left = 1 + random.nextInt(3); left > 0; left--) {
            added.add(stamps++ + " " + "y".repeat(random.nextInt(MAX_VALUE_CHARS)));
        }
        List<String> values = new ArrayList<>(last.values());
        values.addAll(added);
        becomes(name, new CrashState(last.firstSequence(), values));
        host().append(name, added);
    }

    private void trim(String name, CrashState last) {
        int dropped = random.nextInt(last.values().size() + 1);
        long first = last.firstSequence() + dropped;
        becomes(
                name,
                new CrashState(
                        first, last.values().subList(dropped, last.values().size())));
        host().trim(name, first);
    }

    private void becomes(String name, @Nullable CrashState state) {
        synchronized (model) {
            model.becomes(name, state);
        }
    }
}
