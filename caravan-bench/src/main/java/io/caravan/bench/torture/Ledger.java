package io.caravan.bench.torture;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The supervisor's record of what one process was asked and said. What is not in here was not acknowledged. */
final class Ledger {
    static final long UNKNOWN = -1;

    private final List<WorkerRecord> workers = new ArrayList<>();
    private final Queue<Sighting> sightings = new ConcurrentLinkedQueue<>();
    private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
    private final Contents found = new Contents();
    private final CountDownLatch milestone = new CountDownLatch(1);
    private final AtomicLong appends = new AtomicLong();
    private final AtomicLong releases = new AtomicLong();
    private final AtomicLong refusals = new AtomicLong();
    private final AtomicLong releasesWithoutSpace = new AtomicLong();
    private final AtomicLong refusedReleases = new AtomicLong();
    private final AtomicLong reads = new AtomicLong();
    private volatile @Nullable String firstRefusal;
    private volatile long openNanos = UNKNOWN;
    private volatile long replayedFrames = UNKNOWN;
    private volatile boolean listed;
    private volatile boolean closed;

    Ledger(int workers) {
        for (int i = 0; i < workers; i++) {
            this.workers.add(new WorkerRecord());
        }
    }

    /** What a worker is about to ask. */
    void intend(Intent intent) {
        worker(intent).intend(intent);
    }

    /** The intent of this number, which was entered by the thread that asks. */
    Intent intent(long number) {
        return worker(Intent.worker(number)).intents().get(Intent.index(number));
    }

    /** The change was made, and this was told of it. */
    void acknowledged(Intent intent, long told) {
        enter(worker(intent).acknowledge(intent, told));
        (intent.appends() ? appends : releases).incrementAndGet();
        if (!intent.appends() && firstRefusal != null) {
            releasesWithoutSpace.incrementAndGet();
        }
    }

    /** The intent's expectation does not hold, says the store. */
    void conflicted(Intent intent) {
        enter(worker(intent).tell(intent, StoreModel.REFUSED));
    }

    /** The store says that it has no space for the change. */
    void refusedForSpace(Intent intent, String words) {
        enter(worker(intent).tell(intent, StoreModel.NO_SPACE));
        if (firstRefusal == null) {
            firstRefusal = words;
        }
        refusals.incrementAndGet();
        if (!intent.appends()) {
            refusedReleases.incrementAndGet();
        }
    }

    private void enter(@Nullable String problem) {
        if (problem != null) {
            problems.add(problem);
        }
    }

    private WorkerRecord worker(Intent intent) {
        return worker(Intent.worker(intent.number()));
    }

    WorkerRecord worker(int worker) {
        return workers.get(worker);
    }

    /** A read has been compared with what it had to show. */
    void readChecked() {
        reads.incrementAndGet();
    }

    /** A read of another worker's list, to be judged when it is known what is left. */
    void saw(Sighting sighting) {
        reads.incrementAndGet();
        sightings.add(sighting);
    }

    Collection<Sighting> sightings() {
        return sightings;
    }

    /** What the process was started for has been reached, or never will be. */
    void reachMilestone() {
        milestone.countDown();
    }

    /** Waits for {@link #reachMilestone()}. */
    void awaitMilestone(long seconds) throws IOException, InterruptedException {
        if (!milestone.await(seconds, TimeUnit.SECONDS)) {
            throw new IOException("the process has not got anywhere in " + seconds + " s");
        }
    }

    void problem(String words) {
        problems.add(words);
    }

    List<String> problems() {
        synchronized (problems) {
            return List.copyOf(problems);
        }
    }

    /** Changes that were acknowledged so far. */
    long acknowledgedCount() {
        return appends.get() + releases.get();
    }

    /** Those of them that needed space. */
    long appends() {
        return appends.get();
    }

    /** Those of the others, which give space back, that were acknowledged after something had been refused. */
    long releasesWithoutSpace() {
        return releasesWithoutSpace.get();
    }

    /** Changes that were refused for want of space so far. */
    long refusals() {
        return refusals.get();
    }

    /** Those of them that would have given space back. */
    long refusedReleases() {
        return refusedReleases.get();
    }

    /** What the first of them was told, or null. */
    @Nullable
    String firstRefusal() {
        return firstRefusal;
    }

    /** Reads that were checked so far. */
    long reads() {
        return reads.get();
    }

    /** What the store holds, once {@link #listed()}. */
    Contents found() {
        return found;
    }

    void list(long id, ListModel list) {
        if (found.lists().put(id, list) != null) {
            problems.add("list " + id + " was told twice");
        }
    }

    void allListed() {
        listed = true;
    }

    boolean listed() {
        return listed;
    }

    /**
     * The store is open.
     *
     * @param nanos how long that took
     * @param frames how many log frames were replayed for it, or {@link #UNKNOWN}
     */
    void opened(long nanos, long frames) {
        openNanos = nanos;
        replayedFrames = frames;
    }

    long replayedFrames() {
        return replayedFrames;
    }

    long openNanos() {
        return openNanos;
    }

    /** The workers were done and the store was closed cleanly. */
    void closedCleanly() {
        closed = true;
    }

    boolean closed() {
        return closed;
    }
}
