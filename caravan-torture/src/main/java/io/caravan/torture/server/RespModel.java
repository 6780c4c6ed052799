package io.caravan.torture.server;

import io.caravan.torture.model.Contents;
import io.caravan.torture.model.Intent;
import io.caravan.torture.model.Intent.Operation;
import io.caravan.torture.model.ListModel;
import io.caravan.torture.model.StoreModel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Predicts the results of a server's RESP list commands. A client sees positions, which always start at 0, and no
 * empty lists.
 */
public final class RespModel extends StoreModel {
    /** The result of a command to which the server replies OK. */
    static final long OK = 0;

    /** Creates a model that contains copies of some of the lists in {@code contents}. */
    static RespModel copy(Contents contents, List<Long> ids) {
        RespModel copy = new RespModel();
        for (long id : ids) {
            ListModel list = contents.list(id);
            if (list != null) {
                copy.lists().put(id, list.copy());
            }
        }
        return copy;
    }

    @Override
    public long apply(Intent intent) {
        long length = 0;
        long deleted = 0;
        for (int op = 0; op < intent.operations().size(); op++) {
            Operation operation = intent.operations().get(op);
            switch (operation.kind()) {
                case APPEND -> length = append(intent.number(), op, operation).count();
                case TRIM -> drop(operation.id(), operation.argument());
                case KEEP -> drop(operation.id(), length(operation.id()) - operation.argument());
                case DELETE -> deleted += lists().remove(operation.id()) == null ? 0 : 1;
                case TRIM_TO, EXPECT -> throw new AssertionError("RESP clients do not see sequences");
            }
        }
        return switch (intent.operations().get(0).kind()) {
            case APPEND -> length;
            case DELETE -> deleted;
            default -> OK;
        };
    }

    /** Returns the expected reply to LRANGE: both ends are inclusive, and negative positions count from the end. */
    static ListModel range(@Nullable ListModel list, long first, long last) {
        if (list == null) {
            return new ListModel(0);
        }
        int length = list.count();
        return list.range(first < 0 ? first + length : first, last < 0 ? last + length : last);
    }

    private void drop(long id, long count) {
        ListModel list = list(id);
        if (list != null) {
            list.trimTo(count);
            list.countFromZero();
            if (list.count() == 0) {
                lists().remove(id);
            }
        }
    }
}
