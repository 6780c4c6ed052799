package io.caravan.bench.torture;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One worker's intents and their results. One thread records intents, and the same or another thread records results;
 * everything is read after both have ended.
 */
final class WorkerRecord {
    private final List<Intent> intents = new ArrayList<>();
    private final Map<Long, Long> told = new HashMap<>();
    private long lastAcknowledged = -1;
    private volatile int answered;

    /** The intents, in order. */
    List<Intent> intents() {
        return intents;
    }

    /** The result of the intent, or null if there was none. */
    @Nullable
    Long told(Intent intent) {
        return told.get(intent.number());
    }

    /** Number of intents with a result; any thread may call this. */
    int answered() {
        return answered;
    }

    void intend(Intent intent) {
        intents.add(intent);
    }

    /** Records a result; returns the problem with it, or null. */
    @Nullable
    String tell(Intent intent, long answer) {
        answered = told.size() + 1;
        return told.put(intent.number(), answer) == null ? null : Intent.name(intent.number()) + " was answered twice";
    }

    /**
     * Records the result of a change that was made, as {@link #tell} does, and checks that such results arrive in the
     * order of the intents.
     */
    @Nullable
    String acknowledge(Intent intent, long answer) {
        long before = lastAcknowledged;
        lastAcknowledged = Math.max(before, intent.number());
        String problem = tell(intent, answer);
        return intent.number() > before || problem != null
                ? problem
                : Intent.name(intent.number()) + " was acknowledged after " + Intent.name(before);
    }
}
