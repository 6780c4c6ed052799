package io.caravan.torture;

import io.caravan.torture.Intent.Call;
import io.caravan.torture.Intent.Kind;
import io.caravan.torture.Intent.Operation;
import io.caravan.torture.TortureSubject.Shift;
import java.util.List;
import java.util.SplittableRandom;

/** Generates a worker's next intent at random, based on the contents of its lists. */
abstract class IntentGenerator {
    private static final int SHORT_BYTES = 24;
    private static final int USUAL_BYTES = 400;
    /** The length of large values: small enough for an entire batch to fit into the log buffer. */
    private static final int LARGE_BYTES = 4 * 1024;

    final SplittableRandom random;
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
    IntentGenerator(SplittableRandom random, Contents contents, List<Long> ids, Shift shift, int worker) {
        this.random = random;
        this.contents = contents;
        this.ids = ids;
        appetite = shift.appetite();
        round = shift.round();
        this.worker = worker;
    }

    Intent next() {
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

    abstract Intent trim(long id);

    abstract Intent delete(long id);

    abstract Intent batch();

    final Intent intent(Call call, List<Operation> operations) {
        return new Intent(Intent.number(round, worker, count++), call, operations);
    }

    final long anyId() {
        return ids.get(random.nextInt(ids.size()));
    }

    final int length(long id) {
        return contents.length(id);
    }

    final long nextSequence(long id) {
        return contents.nextSequence(id);
    }

    /** Returns the number of values that a trim of the list should remove, sometimes more than the list has. */
    final int trimmed(long id) {
        return random.nextInt(appetite.longestTrim(length(id)) + 2);
    }

    final int partBytes() {
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
            return random.nextInt(ChildPlan.MAX_VALUE_BYTES);
        } else {
            return ChildPlan.MAX_VALUE_BYTES;
        }
    }
}
