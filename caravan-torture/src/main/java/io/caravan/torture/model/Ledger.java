package io.caravan.torture.model;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The supervisor's record of the requests to one process and the messages from it. A change whose acknowledgment is
 * not recorded here counts as unacknowledged.
 */
public final class Ledger {
    public static final long UNKNOWN = -1;

    /** Reads of other workers' lists, to be checked when the surviving contents are known. */
    final Queue<Sightings.Sighting> sightings = new ConcurrentLinkedQueue<>();
    /** The contents of the store, complete once {@link #listed} is true. */
    public final Contents found = new Contents();
    /** The number of acknowledged changes that needed space. */
    public final AtomicLong appends = new AtomicLong();
    /** The number of changes rejected for lack of space so far. */
    public final AtomicLong rejections = new AtomicLong();
    /** The number of space-freeing changes that were acknowledged after a rejection. */
    public final AtomicLong releasesWithoutSpace = new AtomicLong();
    /** The number of reads checked so far. */
    public final AtomicLong reads = new AtomicLong();
    /** The error message of the first rejection. */
    volatile @Nullable String firstRejection;
    /** The time that the process took to open the store. */
    public volatile long openNanos = UNKNOWN;

    public volatile long replayedFrames = UNKNOWN;
    public volatile boolean listed;
    /** Whether the workers have finished and the store was closed cleanly. */
    public volatile boolean closed;

    private final List<WorkerRecord> workers = new ArrayList<>();
    private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch milestone = new CountDownLatch(1);
    private final AtomicLong releases = new AtomicLong();
    private final AtomicLong rejectedReleases = new AtomicLong();

    public Ledger(int workers) {
        for (int i = 0; i < workers; i++) {
            this.workers.add(new WorkerRecord());
        }
    }

    /** Records the change that a worker is about to request. */
    public void intend(Intent intent) {
        worker(intent).intend(intent);
    }

    /** Returns the intent with this number, which the calling thread must have recorded. */
    public Intent intent(long number) {
        return worker(Intent.worker(number)).intents().get(Intent.index(number));
    }

    /** Records that a change was made, and its result. */
    public void acknowledged(Intent intent, long result) {
        enter(worker(intent).acknowledge(intent, result));
        (intent.appends() ? appends : releases).incrementAndGet();
        if (!intent.appends() && firstRejection != null) {
            releasesWithoutSpace.incrementAndGet();
        }
    }

    /** Records that the store rejected a change because an expected sequence did not match. */
    public void conflicted(Intent intent) {
        enter(worker(intent).enterResult(intent, StoreModel.REJECTED));
    }

    /** Records that the store rejected a change for lack of space. */
    public void rejectedForSpace(Intent intent, String words) {
        enter(worker(intent).enterResult(intent, StoreModel.NO_SPACE));
        if (firstRejection == null) {
            firstRejection = words;
        }
        rejections.incrementAndGet();
        if (!intent.appends()) {
            rejectedReleases.incrementAndGet();
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

    public WorkerRecord worker(int worker) {
        return workers.get(worker);
    }

    public void saw(Sightings.Sighting sighting) {
        reads.incrementAndGet();
        sightings.add(sighting);
    }

    /** Records that the process has reached its milestone, or will never reach it. */
    public void reachMilestone() {
        milestone.countDown();
    }

    /** Waits until {@link #reachMilestone()} has been called. */
    public void awaitMilestone(long seconds) throws IOException, InterruptedException {
        if (!milestone.await(seconds, TimeUnit.SECONDS)) {
            throw new IOException("the process has not reached its goal within " + seconds + " s");
        }
    }

    /**
     * The counts of a process's changes and reads.
     *
     * @param acknowledged changes that were made
     * @param rejected changes that were rejected for lack of space
     * @param rejectedReleases rejected changes that would have freed space
     * @param reads checked reads
     */
    public record Counts(long acknowledged, long rejected, long rejectedReleases, long reads) {
        public static final Counts NONE = new Counts(0, 0, 0, 0);

        public Counts plus(Counts more) {
            return new Counts(
                    acknowledged + more.acknowledged,
                    rejected + more.rejected,
                    rejectedReleases + more.rejectedReleases,
                    reads + more.reads);
        }
    }

    public Counts counts() {
        return new Counts(acknowledgedCount(), rejections.get(), rejectedReleases.get(), reads.get());
    }

    public void problem(String words) {
        problems.add(words);
    }

    public List<String> problems() {
        synchronized (problems) {
            return List.copyOf(problems);
        }
    }

    /** Returns the number of changes acknowledged so far. */
    public long acknowledgedCount() {
        return appends.get() + releases.get();
    }

    public void list(long id, ListModel list) {
        if (found.lists().put(id, list) != null) {
            problems.add("list " + id + " was reported twice");
        }
    }

    /**
     * Records one worker's intents and their results. One thread records intents, and the same or another thread
     * records results; everything is read after both have ended.
     */
    public static final class WorkerRecord {
        private final List<Intent> intents = new ArrayList<>();
        private final Map<Long, Long> results = new HashMap<>();
        private long lastAcknowledged = -1;
        private volatile int completed;

        /** Returns the intents in the order in which they were recorded. */
        public List<Intent> intents() {
            return intents;
        }

        /** Returns the result of the intent, or null if none was recorded. */
        @Nullable
        public Long result(Intent intent) {
            return results.get(intent.number());
        }

        /** Returns the number of intents with a result; any thread may call this method. */
        public int completed() {
            return completed;
        }

        public void intend(Intent intent) {
            intents.add(intent);
        }

        /** Records the result of an intent; returns a problem if it already has a result, otherwise null. */
        @Nullable
        String enterResult(Intent intent, long result) {
            completed = results.size() + 1;
            return results.put(intent.number(), result) == null
                    ? null
                    : Intent.name(intent.number()) + " got two results";
        }

        /**
         * Records the result of a change that was made, as {@link #enterResult} does, and checks that such results
         * arrive in the order of the intents.
         */
        @Nullable
        String acknowledge(Intent intent, long result) {
            long before = lastAcknowledged;
            lastAcknowledged = Math.max(before, intent.number());
            String problem = enterResult(intent, result);
            return intent.number() > before || problem != null
                    ? problem
                    : Intent.name(intent.number()) + " was acknowledged after " + Intent.name(before);
        }
    }
}
