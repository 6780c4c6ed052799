package io.caravan.bench.torture;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one worker meant to do, and what it was told. One thread enters intents and one, perhaps another, what was told;
 * all of it is read when both have ended.
 */
final class WorkerRecord {
    private final List<Intent> intents = new ArrayList<>();
    private final Map<Long, Long> told = new HashMap<>();
    private long lastAcknowledged = -1;
    private volatile int answered;

    /** What it meant to do, in order. */
    List<Intent> intents() {
        return intents;
    }

    /** What the store told of the intent, or null when nothing was heard. */
    @Nullable
    Long told(Intent intent) {
        return told.get(intent.number());
    }

    /** How many intents something was told of; may be asked by any thread. */
    int answered() {
        return answered;
    }

    void intend(Intent intent) {
        intents.add(intent);
    }

    /** Returns what is wrong with it, or null. */
    @Nullable
    String tell(Intent intent, long answer) {
        answered = told.size() + 1;
        return told.put(intent.number(), answer) == null ? null : Intent.name(intent.number()) + " was told twice";
    }

    /** As {@link #tell}, of a change that was made: these come in the order of the intents. */
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
