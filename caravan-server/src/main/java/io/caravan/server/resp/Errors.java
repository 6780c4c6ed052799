package io.caravan.server.resp;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.OutOfSpaceException;
import io.caravan.SequenceConflictException;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.StoreIoException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exceptions as error answers: a prefix that programs look at, and the exception's own message. What is in no row of the
 * table is the client's mistake when it is an argument that was refused, and ours otherwise.
 */
final class Errors {
    private static final Logger LOG = LoggerFactory.getLogger(Errors.class);

    private record Row(Class<? extends RuntimeException> type, String prefix) {}

    private static final List<Row> TABLE = List.of(
            new Row(OutOfSpaceException.class, "OOM"),
            new Row(SequenceConflictException.class, "CONFLICT"),
            new Row(CorruptStoreException.class, "CORRUPT"),
            new Row(StoreFailedException.class, "IOERR"),
            new Row(StoreIoException.class, "IOERR"),
            new Row(StoreClosedException.class, "IOERR"),
            new Row(CaravanException.class, "ERR"),
            new Row(IllegalArgumentException.class, "ERR"));

    private Errors() {}

    static Reply.Error reply(RuntimeException problem) {
        if (problem instanceof CommandException answer) {
            return answer.reply();
        }
        for (Row row : TABLE) {
            if (row.type().isInstance(problem)) {
                return new Reply.Error(row.prefix() + " " + problem.getMessage());
            }
        }
        LOG.error("a command failed for a reason that is the server's", problem);
        return new Reply.Error("ERR internal error, see the server's log: " + problem);
    }
}
