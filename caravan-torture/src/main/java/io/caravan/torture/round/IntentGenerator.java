package io.caravan.torture.round;

import io.caravan.torture.model.Contents;
import io.caravan.torture.model.Intent;
import io.caravan.torture.model.Intent.Call;
import io.caravan.torture.model.Intent.Kind;
import io.caravan.torture.model.Intent.Operation;
import io.caravan.torture.round.TortureSubject.Shift;
import java.util.List;
import java.util.SplittableRandom;

/** Generates a worker's next intent at random, based on the contents of its lists. */
public abstract class IntentGenerator {
    private static final int SHORT_BYTES = 24;
    private static final int USUAL_BYTES = 400;
    /** The length of large values: small enough for an entire batch to fit into the log buffer. */
    private static final int LARGE_BYTES = 4 * 1024;

    protected final SplittableRandom random;
    private final Contents contents;
    private final List<Long> ids;
    private final Appetite appetite;
    private final int round;
    private final int worker;
    private long count;

    /**
     * Creates a generator.
     *
     * @param contents contents of the lists; the caller synchronizes access to them
     * @param ids the worker's own lists
     */
    protected IntentGenerator(SplittableRandom random, Contents contents, List<Long> ids, Shift shift, int worker) {
        this.random = random;
        this.contents = contents;
        this.ids = ids;
        appetite = shift.appetite();
        round = shift.round();
        this.worker = worker;
    }

    public Intent next() {
        long id = anyId();
        int dice = random.nextInt(1000);
        if (length(id) > appetite.longList || dice < appetite.trims) {
            return trim(id);
        } else if (dice < appetite.trims + appetite.deletes) {
            return delete(id);
        } else if (dice < 220) {
            return batch();
        } else {
            return intent(Call.APPEND, List.of(new Operation(Kind.APPEND, id, valueBytes())));
        }
    }

    protected abstract Intent trim(long id);

    protected abstract Intent delete(long id);

    protected abstract Intent batch();

    protected final Intent intent(Call call, List<Operation> operations) {
        return new Intent(Intent.number(round, worker, count++), call, operations);
    }

    protected final long anyId() {
        return ids.get(random.nextInt(ids.size()));
    }

    protected final int length(long id) {
        return contents.length(id);
    }

    protected final long nextSequence(long id) {
        return contents.nextSequence(id);
    }

    /** Returns the number of values that a trim of the list should remove, sometimes more than the list has. */
    protected final int trimmed(long id) {
        return random.nextInt(appetite.longestTrim(length(id)) + 2);
    }

    protected final int partBytes() {
        return random.nextInt(LARGE_BYTES / 4);
    }

    private int valueBytes() {
        int dice = random.nextInt(1000);
        if (dice < 50) {
            return random.nextInt(SHORT_BYTES);
        } else if (dice < 930) {
            return SHORT_BYTES + random.nextInt(USUAL_BYTES - SHORT_BYTES);
        } else if (dice < 995) {
            return random.nextInt(LARGE_BYTES);
        } else if (dice < 999) {
            return random.nextInt(SmallStore.MAX_VALUE_BYTES);
        } else {
            return SmallStore.MAX_VALUE_BYTES;
        }
    }
}
