package io.caravan.bench.torture;

import io.caravan.bench.torture.Intent.Call;
import io.caravan.bench.torture.Intent.Kind;
import io.caravan.bench.torture.Intent.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Draws what a worker does next, from its model of its own lists. */
final class IntentGenerator {
    /** A list longer than this is trimmed before anything else, so that a store stays small over many rounds. */
    private static final int LONG_LIST = 120;

    private static final int MAX_BATCH_OPERATIONS = 6;
    private static final int SHORT_BYTES = 24;
    private static final int USUAL_BYTES = 400;
    /** So that a whole batch fits the log buffer. */
    private static final int LARGE_BYTES = 4 * 1024;

    private final SplittableRandom random;
    private final StoreModel model;
    private final List<Long> ids;
    private final int round;
    private final int worker;
    private long count;

    IntentGenerator(SplittableRandom random, StoreModel model, List<Long> ids, int round, int worker) {
        this.random = random;
        this.model = model;
        this.ids = ids;
        this.round = round;
        this.worker = worker;
    }

    Intent next() {
        long id = anyId();
        int dice = random.nextInt(1000);
        if (length(id) > LONG_LIST || dice < 60) {
            return trim(id);
        } else if (dice < 75) {
            return intent(Call.DELETE, List.of(new Operation(Kind.DELETE, id, 0)));
        } else if (dice < 220) {
            return intent(Call.BATCH, batch());
        } else {
            return intent(Call.APPEND, List.of(new Operation(Kind.APPEND, id, valueBytes())));
        }
    }

    private Intent intent(Call call, List<Operation> operations) {
        return new Intent(Intent.number(round, worker, count++), call, operations);
    }

    private long anyId() {
        return ids.get(random.nextInt(ids.size()));
    }

    private int length(long id) {
        ListModel list = model.list(id);
        return list == null ? 0 : list.count();
    }

    private Intent trim(long id) {
        if (random.nextBoolean()) {
            long some = random.nextLong(length(id) + 2L);
            return intent(Call.TRIM, List.of(new Operation(Kind.TRIM, id, some)));
        }
        return intent(Call.TRIM_TO, List.of(trimTo(id)));
    }

    /** Mostly somewhere within the list, sometimes before its start or past its end. */
    private Operation trimTo(long id) {
        return new Operation(
                Kind.TRIM_TO, id, Math.max(0, model.nextSequence(id) + 2 - random.nextLong(length(id) + 5L)));
    }

    private List<Operation> batch() {
        List<Operation> operations = new ArrayList<>();
        if (random.nextInt(3) == 0) {
            operations.add(expectation());
        }
        for (int left = 1 + random.nextInt(MAX_BATCH_OPERATIONS); left > 0; left--) {
            operations.add(batchOperation());
        }
        return operations;
    }

    /** One in four does not hold. */
    private Operation expectation() {
        long id = anyId();
        long error = random.nextInt(4) == 0 ? 1 + random.nextInt(3) : 0;
        return new Operation(Kind.EXPECT, id, model.nextSequence(id) + error);
    }

    private Operation batchOperation() {
        long id = anyId();
        int dice = random.nextInt(100);
        if (dice < 80) {
            return new Operation(Kind.APPEND, id, random.nextInt(LARGE_BYTES / 4));
        } else if (dice < 97) {
            return trimTo(id);
        } else {
            return new Operation(Kind.DELETE, id, 0);
        }
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
