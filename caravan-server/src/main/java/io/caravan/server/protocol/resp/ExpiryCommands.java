package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.FIRST;
import static io.caravan.server.protocol.resp.CommandSpec.generic;

import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The commands that set and return expiries. {@link KeyExistence} explains the treatment of documents without values.
 */
public record ExpiryCommands(DocumentService documents, InstantSource clock) {
    private static final long NO_DOCUMENT = -2;
    private static final long NO_EXPIRY = -1;
    /** Stands for the expiry time of a document that does not expire. */
    private static final long NEVER = Long.MAX_VALUE;

    private static final int SECOND_MILLIS = 1000;
    private static final int FIRST_OPTION_WORD = 3;
    /** The conditions for a new expiry: that the old one is absent, is present, is earlier, or is later. */
    private static final Set<String> OPTIONS = Set.of("NX", "XX", "GT", "LT");

    public List<CommandSpec> all() {
        return List.of(
                expire("EXPIRE", "Sets the seconds after which a document expires.", SECOND_MILLIS, true),
                expire("PEXPIRE", "Sets the milliseconds after which a document expires.", 1, true),
                expire("EXPIREAT", "Sets the Unix time in seconds at which a document expires.", SECOND_MILLIS, false),
                expire("PEXPIREAT", "Sets the Unix time in milliseconds at which a document expires.", 1, false),
                remaining("TTL", "Returns the seconds until a document expires.", SECOND_MILLIS),
                remaining("PTTL", "Returns the milliseconds until a document expires.", 1),
                generic("PERSIST", 2, FIRST, "fast", "Removes a document's expiry.")
                        .write((session, command) -> Change.of(ListCommands.name(command), ExpiryCommands::persist)));
    }

    private CommandSpec expire(String name, String summary, int unitMillis, boolean fromNow) {
        return generic(name, -3, FIRST, "fast", summary).write((session, command) -> {
            long atMillis = moment(command, unitMillis, fromNow);
            Set<String> options = options(command);
            return Change.of(ListCommands.name(command), document -> expire(document, atMillis, options));
        });
    }

    /** Returns the options of an {@code EXPIRE} command. Throws if one is unknown, or if they contradict each other. */
    private static Set<String> options(Command command) {
        Set<String> options = new HashSet<>();
        for (int i = FIRST_OPTION_WORD; i < command.size(); i++) {
            if (!OPTIONS.contains(command.keyword(i))) {
                throw new CommandException("ERR Unsupported option " + command.shortText(i));
            }
            options.add(command.keyword(i));
        }
        if (options.contains("NX") && options.size() > 1) {
            throw new CommandException("ERR NX and XX, GT or LT options at the same time are not compatible");
        }
        if (options.contains("GT") && options.contains("LT")) {
            throw new CommandException("ERR GT and LT options at the same time are not compatible");
        }
        return options;
    }

    /** Whether the options let a new expiry replace the old one. A missing expiry counts as later than any other. */
    private static boolean allow(Set<String> options, long oldMillis, long newMillis) {
        return !(options.contains("NX") && oldMillis != NEVER
                || options.contains("XX") && oldMillis == NEVER
                || options.contains("GT") && newMillis <= oldMillis
                || options.contains("LT") && newMillis >= oldMillis);
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

    private Reply expire(EditedDocument document, long atMillis, Set<String> options) {
        DocumentInfo info = KeyExistence.of(document::info);
        if (info == null || !allow(options, deadlineMillis(info), atMillis)) {
            return new Reply.Number(0);
        }
        if (atMillis <= clock.millis()) {
            document.delete();
        } else {
            document.attributes(info.attributes().withExpiresAtMillis(atMillis));
        }
        return new Reply.Number(1);
    }

    /** Returns the time at which the document expires unless it is used earlier, or {@link #NEVER} if it has no expiry. */
    private long deadlineMillis(DocumentInfo info) {
        return documents.deadlineMillis(info).orElse(NEVER);
    }

    private static Reply persist(EditedDocument document) {
        DocumentInfo info = KeyExistence.of(document::info);
        if (info == null || !info.attributes().expires()) {
            return new Reply.Number(0);
        }
        document.attributes(info.attributes().withoutExpiry());
        return new Reply.Number(1);
    }

    private CommandSpec remaining(String name, String summary, int unitMillis) {
        return generic(name, 2, FIRST, "fast", summary).lookup(documents, (command, found) -> {
            DocumentInfo info = KeyExistence.of(() -> found.apply(ListCommands.name(command)));
            return new Reply.Number(info == null ? NO_DOCUMENT : remaining(info, unitMillis));
        });
    }

    /** Returns the time until the document expires, rounded to the nearest unit as in Redis. */
    private long remaining(DocumentInfo info, int unitMillis) {
        long deadline = deadlineMillis(info);
        return deadline == NEVER ? NO_EXPIRY : (Math.max(0, deadline - clock.millis()) + unitMillis / 2) / unitMillis;
    }
}
