package io.caravan.torture.embedded;

import io.caravan.torture.model.Intent;
import io.caravan.torture.model.Intent.Operation;
import io.caravan.torture.model.ListModel;
import io.caravan.torture.model.StoreModel;

/** Predicts the results of an embedded store from the contract of {@link io.caravan.ListStore}. */
final class EmbeddedModel extends StoreModel {
    private static final long NO_SEQUENCE = -1;

    @Override
    public long apply(Intent intent) {
        if (!intent.operations().stream().allMatch(this::holds)) {
            return REJECTED;
        }
        long lastResult = NO_SEQUENCE;
        for (int op = 0; op < intent.operations().size(); op++) {
            Operation operation = intent.operations().get(op);
            long result = apply(intent, op, operation);
            boolean hasResult = intent.call() != Intent.Call.BATCH || operation.kind() == Intent.Kind.APPEND;
            lastResult = hasResult ? result : lastResult;
        }
        return lastResult;
    }

    private boolean holds(Operation operation) {
        return operation.kind() != Intent.Kind.EXPECT || nextSequence(operation.id()) == operation.argument();
    }

    private long apply(Intent intent, int op, Operation operation) {
        return switch (operation.kind()) {
            case APPEND -> append(intent.number(), op, operation).nextSequence() - 1;
            case TRIM -> trim(operation.id(), operation.argument());
            case TRIM_TO -> trimTo(operation.id(), operation.argument());
            case DELETE -> delete(operation.id());
            case EXPECT -> NO_SEQUENCE;
            case KEEP -> throw new AssertionError("an embedded store cannot trim to a number of last values");
        };
    }

    private long trim(long id, long count) {
        ListModel list = list(id);
        return list == null ? UNSPECIFIED : list.trimTo(list.firstSequence() + Math.min(count, list.count()));
    }

    private long trimTo(long id, long sequence) {
        ListModel list = list(id);
        return list == null ? UNSPECIFIED : list.trimTo(sequence);
    }

    private long delete(long id) {
        lists().remove(id);
        return NO_SEQUENCE;
    }
}
