package io.caravan.torture.server;

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

/** Generates random commands for a server: RPUSH of one or more values, LTRIM, and DEL of one or more lists. */
final class RespIntents extends IntentGenerator {
    private static final int MAX_PUSHED = 6;
    private static final int MAX_DELETED = 3;

    RespIntents(SplittableRandom random, Contents contents, List<Long> ids, Shift shift, int worker) {
        super(random, contents, ids, shift, worker);
    }

    @Override
    protected Intent trim(long id) {
        int dropped = trimmed(id);
        Operation operation = random.nextBoolean()
                ? new Operation(Kind.TRIM, id, dropped)
                : new Operation(Kind.KEEP, id, Math.max(0, length(id) - dropped));
        return intent(Call.TRIM, List.of(operation));
    }

    @Override
    protected Intent delete(long id) {
        List<Operation> operations = new ArrayList<>(List.of(new Operation(Kind.DELETE, id, 0)));
        for (int left = random.nextInt(MAX_DELETED); left > 0; left--) {
            operations.add(new Operation(Kind.DELETE, anyId(), 0));
        }
        return intent(operations.size() == 1 ? Call.DELETE : Call.BATCH, operations);
    }

    @Override
    protected Intent batch() {
        long id = anyId();
        List<Operation> operations = new ArrayList<>();
        for (int left = 2 + random.nextInt(MAX_PUSHED - 1); left > 0; left--) {
            operations.add(new Operation(Kind.APPEND, id, partBytes()));
        }
        return intent(Call.BATCH, operations);
    }
}
