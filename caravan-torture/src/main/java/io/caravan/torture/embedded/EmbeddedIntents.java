package io.caravan.torture.embedded;

import io.caravan.torture.model.Contents;
import io.caravan.torture.model.Intent;
import io.caravan.torture.model.Intent.Call;
import io.caravan.torture.model.Intent.Kind;
import io.caravan.torture.model.Intent.Operation;
import io.caravan.torture.round.IntentGenerator;
import io.caravan.torture.round.TortureSubject.Shift;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Generates random calls to an embedded store, including trims by count and by sequence, batches over several lists,
 * and expected sequences.
 */
final class EmbeddedIntents extends IntentGenerator {
    private static final int MAX_BATCH_OPERATIONS = 6;

    EmbeddedIntents(SplittableRandom random, Contents contents, List<Long> ids, Shift shift, int worker) {
        super(random, contents, ids, shift, worker);
    }

    @Override
    protected Intent trim(long id) {
        if (random.nextBoolean()) {
            return intent(Call.TRIM, List.of(new Operation(Kind.TRIM, id, trimmed(id))));
        }
        return intent(Call.TRIM_TO, List.of(trimTo(id)));
    }

    @Override
    protected Intent delete(long id) {
        return intent(Call.DELETE, List.of(new Operation(Kind.DELETE, id, 0)));
    }

    @Override
    protected Intent batch() {
        List<Operation> operations = new ArrayList<>();
        if (random.nextInt(3) == 0) {
            operations.add(expectation());
        }
        for (int left = 1 + random.nextInt(MAX_BATCH_OPERATIONS); left > 0; left--) {
            operations.add(batchOperation());
        }
        return intent(Call.BATCH, operations);
    }

    /** Generates a trim to a sequence that is usually in the list, but sometimes before its start or past its end. */
    private Operation trimTo(long id) {
        long first = nextSequence(id) - length(id);
        return new Operation(Kind.TRIM_TO, id, Math.max(0, first - 2 + trimmed(id) + random.nextInt(4)));
    }

    /** Generates an expectation of a list's next sequence, which is wrong in one out of every four cases. */
    private Operation expectation() {
        long id = anyId();
        long error = random.nextInt(4) == 0 ? 1 + random.nextInt(3) : 0;
        return new Operation(Kind.EXPECT, id, nextSequence(id) + error);
    }

    private Operation batchOperation() {
        long id = anyId();
        int dice = random.nextInt(100);
        if (dice < 80) {
            return new Operation(Kind.APPEND, id, partBytes());
        } else if (dice < 97) {
            return trimTo(id);
        } else {
            return new Operation(Kind.DELETE, id, 0);
        }
    }
}
