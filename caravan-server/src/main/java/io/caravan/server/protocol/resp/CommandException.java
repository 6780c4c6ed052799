package io.caravan.server.protocol.resp;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.OutOfSpaceException;
import io.caravan.SequenceConflictException;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.StoreIoException;
import io.caravan.TrimmedException;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.backup.BackupException;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.MovedException;
import io.caravan.server.document.ReadBarrier.UnconfirmedReadException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Thrown if a command fails. The message is the text of the error reply, including the prefix. */
final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(CommandException.class);

    private record Row(Class<? extends RuntimeException> type, String prefix) {}

    private static final List<Row> TABLE = List.of(
            new Row(OutOfSpaceException.class, "OOM"),
            new Row(SequenceConflictException.class, "CONFLICT"),
            new Row(TrimmedException.class, "TRIMMED"),
            new Row(CorruptStoreException.class, "CORRUPT"),
            new Row(StoreFailedException.class, "IOERR"),
            new Row(StoreIoException.class, "IOERR"),
            new Row(StoreClosedException.class, "IOERR"),
            new Row(ObjectStoreException.class, "ARCHIVE"),
            new Row(BackupException.class, "BACKUP"),
            new Row(UnconfirmedReadException.class, "CLUSTERDOWN"),
            new Row(CaravanException.class, "ERR"),
            new Row(IllegalArgumentException.class, "ERR"));

    CommandException(String error) {
        super(error, null, false, false);
    }

    /** The name is in lower case, with any subcommand: {@code client|setname}. */
    static CommandException wrongArity(String name) {
        return new CommandException("ERR wrong number of arguments for '" + name + "' command");
    }

    static CommandException syntax() {
        return new CommandException("ERR syntax error");
    }

    Reply.Error reply() {
        return new Reply.Error(String.valueOf(getMessage()));
    }

    /**
     * Converts an exception to an error reply: a machine-readable prefix and the message of the exception. An unexpected
     * exception is logged, and reported as an internal error.
     */
    static Reply.Error reply(RuntimeException problem) {
        if (problem instanceof CommandException rejection) {
            return rejection.reply();
        }
        if (problem instanceof MovedException moved) {
            return new Reply.Error("RELOCATED " + moved.to().forResp() + " " + moved.getMessage());
        }
        if (problem instanceof DocumentException rejected) {
            return new Reply.Error(prefix(rejected.reason()) + " " + rejected.getMessage());
        }
        if (problem instanceof ArchiveException rejected) {
            return new Reply.Error(prefix(rejected.reason()) + " " + rejected.getMessage());
        }
        for (Row row : TABLE) {
            if (row.type().isInstance(problem)) {
                return new Reply.Error(row.prefix() + " " + problem.getMessage());
            }
        }
        LOG.error("a command failed for a reason that is the server's", problem);
        return new Reply.Error("ERR internal error, see the server's log: " + problem);
    }

    private static String prefix(ArchiveException.Reason reason) {
        return switch (reason) {
            case DELETED -> "DELETED";
            case DIVERGED -> "DIVERGED";
            case CORRUPT, VERSION, NOT_FOUND, FOREIGN, FENCED, FULL -> "ARCHIVE";
        };
    }

    private static String prefix(DocumentException.Reason reason) {
        return switch (reason) {
            case NOT_FOUND, SOURCE_NOT_FOUND -> "NOTFOUND";
            case GONE, SOURCE_GONE -> "GONE";
            case CLOSED -> "CLOSED";
            case SEQUENCE_CONFLICT -> "CONFLICT";
            case HAS_FORKS -> "FORKED";
            case CHANGED -> "CHANGED";
            case RESTORING -> "RESTORING";
            case MOVING -> "MOVING";
            case MOVED -> "RELOCATED";
            case TOO_LARGE -> "TOOLARGE";
            case OVER_QUOTA -> "QUOTA";
            case RATE_LIMITED -> "RATELIMITED";
            case CROSS_SLOT -> "CROSSSLOT";
            case EXISTS,
                    CONTENT_TYPE_MISMATCH,
                    NOT_JSON,
                    STREAM_SEQ_REGRESSION,
                    PRODUCER_FENCED,
                    PRODUCER_GAP,
                    PRODUCER_EPOCH_START,
                    FORK_POINT -> "ERR";
        };
    }
}
