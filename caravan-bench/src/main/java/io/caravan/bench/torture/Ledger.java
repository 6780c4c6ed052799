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

/**
 * The supervisor's record of the requests to one process and the messages from it. A change whose acknowledgement is
 * not recorded here counts as unacknowledged.
 */
final class Ledger {
    static final long UNKNOWN = -1;

    private final List<WorkerRecord> workers = new ArrayList<>();
    private final Queue<Sightings.Sighting> sightings = new ConcurrentLinkedQueue<>();
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

    /** Records a worker's next request. */
    void intend(Intent intent) {
        worker(intent).intend(intent);
    }

    /** Returns the intent with this number, which the calling thread must have recorded. */
    Intent intent(long number) {
        return worker(Intent.worker(number)).intents().get(Intent.index(number));
    }

    /** Records that the change was made, with its result. */
    void acknowledged(Intent intent, long told) {
        enter(worker(intent).acknowledge(intent, told));
        (intent.appends() ? appends : releases).incrementAndGet();
        if (!intent.appends() && firstRefusal != null) {
            releasesWithoutSpace.incrementAndGet();
        }
    }

    /** Records that the store rejected the intent because the sequence that it expected did not match. */
    void conflicted(Intent intent) {
        enter(worker(intent).tell(intent, StoreModel.REFUSED));
    }

    /** Records that the store has no space for the change. */
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

    /** Records a read that has been checked against the expected values. */
    void readChecked() {
        reads.incrementAndGet();
    }

    /** Records a read of another worker's list, to be checked when the remaining contents are known. */
    void saw(Sightings.Sighting sighting) {
        reads.incrementAndGet();
        sightings.add(sighting);
    }

    Collection<Sightings.Sighting> sightings() {
        return sightings;
    }

    /** Records that the process has reached its goal, or never will. */
    void reachMilestone() {
        milestone.countDown();
    }

    /** Waits for {@link #reachMilestone()}. */
    void awaitMilestone(long seconds) throws IOException, InterruptedException {
        if (!milestone.await(seconds, TimeUnit.SECONDS)) {
            throw new IOException("the process has not reached its goal within " + seconds + " s");
        }
    }

    /**
     * The counts of a process's changes and reads.
     *
     * @param acknowledged changes that were made
     * @param refused changes that were rejected for lack of space
     * @param refusedReleases rejected changes that would have freed space
     * @param reads checked reads
     */
    record Counts(long acknowledged, long refused, long refusedReleases, long reads) {
        static final Counts NONE = new Counts(0, 0, 0, 0);

        Counts plus(Counts more) {
            return new Counts(
                    acknowledged + more.acknowledged,
                    refused + more.refused,
                    refusedReleases + more.refusedReleases,
                    reads + more.reads);
        }
    }

    Counts counts() {
        return new Counts(acknowledgedCount(), refusals.get(), refusedReleases.get(), reads.get());
    }

    void problem(String words) {
        problems.add(words);
    }

    List<String> problems() {
        synchronized (problems) {
            return List.copyOf(problems);
        }
    }

    /** Number of changes acknowledged so far. */
    long acknowledgedCount() {
        return appends.get() + releases.get();
    }

    /** Number of acknowledged changes that needed space. */
    long appends() {
        return appends.get();
    }

    /** Number of space-freeing changes that were acknowledged after a rejection. */
    long releasesWithoutSpace() {
        return releasesWithoutSpace.get();
    }

    /** Number of changes rejected for lack of space so far. */
    long refusals() {
        return refusals.get();
    }

    /** The message of the first rejection, or null. */
    @Nullable
    String firstRefusal() {
        return firstRefusal;
    }

    /** Number of reads checked so far. */
    long reads() {
        return reads.get();
    }

    /** The contents of the store, complete once {@link #listed()} returns true. */
    Contents found() {
        return found;
    }

    void list(long id, ListModel list) {
        if (found.lists().put(id, list) != null) {
            problems.add("list " + id + " was reported twice");
        }
    }

    void allListed() {
        listed = true;
    }

    boolean listed() {
        return listed;
    }

    /**
     * Records that the store is open.
     *
     * @param nanos time taken to open the store
     * @param frames number of replayed log frames, or {@link #UNKNOWN}
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

    /** Records that the workers finished and the store was closed cleanly. */
    void closedCleanly() {
        closed = true;
    }

    boolean closed() {
        return closed;
    }
}
