package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.FIRST;

import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Change;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import java.time.InstantSource;
import java.util.List;

/** When documents expire; see {@link Presence} for documents without values. */
public final class ExpiryCommands {
    private static final long NO_DOCUMENT = -2;
    private static final long NEVER = -1;
    private static final int MILLIS_IN_SECOND = 1000;

    private final DocumentService documents;
    private final InstantSource clock;

    public ExpiryCommands(DocumentService documents, InstantSource clock) {
        this.documents = documents;
        this.clock = clock;
    }

    public List<CommandSpec> all() {
        return List.of(
                expire("EXPIRE", "Sets the seconds after which a document expires.", MILLIS_IN_SECOND, true),
                expire("PEXPIRE", "Sets the milliseconds after which a document expires.", 1, true),
                expire(
                        "EXPIREAT",
                        "Sets the Unix time in seconds at which a document expires.",
                        MILLIS_IN_SECOND,
                        false),
                expire("PEXPIREAT", "Sets the Unix time in milliseconds at which a document expires.", 1, false),
                remaining("TTL", "Returns the seconds until a document expires.", MILLIS_IN_SECOND),
                remaining("PTTL", "Returns the milliseconds until a document expires.", 1),
                CommandSpec.generic("PERSIST", 2, "Removes a document's expiry.")
                        .keys(FIRST)
                        .flags("fast")
                        .write((session, command) -> Change.of(ListCommands.name(command), ExpiryCommands::persist)));
    }

    private CommandSpec expire(String name, String summary, int unitMillis, boolean fromNow) {
        return CommandSpec.generic(name, -3, summary).keys(FIRST).flags("fast").write((session, command) -> {
            long atMillis = moment(command, unitMillis, fromNow);
            ExpiryCondition condition = ExpiryCondition.of(command);
            return Change.of(ListCommands.name(command), document -> expire(document, atMillis, condition));
        });
    }

    private long moment(Command command, int unitMillis, boolean fromNow) {
        long number = command.number(2);
        try {
            long millis = Math.multiplyExact(number, unitMillis);
            return fromNow ? Math.addExact(clock.millis(), millis) : millis;
        } catch (ArithmeticException overflow) {
            throw new CommandException("ERR invalid expire time in '" + command.lower(0) + "' command");
        }
    }

    private Reply expire(EditedDocument document, long atMillis, ExpiryCondition condition) {
        DocumentInfo info = Presence.of(document);
        if (info == null || !condition.holds(deadlineMillis(info), atMillis)) {
            return new Reply.Number(0);
        }
        if (atMillis <= clock.millis()) {
            document.delete();
        } else {
            document.attributes(info.attributes().withExpiresAtMillis(atMillis));
        }
        return new Reply.Number(1);
    }

    /** When the document expires if nobody uses it; {@link ExpiryCondition#NEVER} when it does not. */
    private long deadlineMillis(DocumentInfo info) {
        return documents.deadlineMillis(info).orElse(ExpiryCondition.NEVER);
    }

    private static Reply persist(EditedDocument document) {
        DocumentInfo info = Presence.of(document);
        if (info == null || !info.attributes().expires()) {
            return new Reply.Number(0);
        }
        document.attributes(info.attributes().withoutExpiry());
        return new Reply.Number(1);
    }

    private CommandSpec remaining(String name, String summary, int unitMillis) {
        return CommandSpec.generic(name, 2, summary).keys(FIRST).flags("fast").lookup(documents, (command, found) -> {
            DocumentInfo info = Presence.of(found, ListCommands.name(command));
            return new Reply.Number(info == null ? NO_DOCUMENT : remaining(info, unitMillis));
        });
    }

    /** Rounded as Redis rounds, to the nearest. */
    private long remaining(DocumentInfo info, int unitMillis) {
        long deadline = deadlineMillis(info);
        return deadline == ExpiryCondition.NEVER
                ? NEVER
                : (Math.max(0, deadline - clock.millis()) + unitMillis / 2) / unitMillis;
    }
}
