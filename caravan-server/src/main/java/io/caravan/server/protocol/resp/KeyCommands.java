package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.ALL;
import static io.caravan.server.protocol.resp.CommandSpec.Keys.FIRST;
import static io.caravan.server.protocol.resp.CommandSpec.Keys.NONE;
import static io.caravan.server.protocol.resp.CommandSpec.Keys.SECOND;
import static io.caravan.server.protocol.resp.CommandSpec.generic;
import static io.caravan.server.protocol.resp.CommandSpec.server;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.ScanPage;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.caravan.server.security.Permission;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The Redis commands for documents as a whole: they delete, describe, and list documents, and set their expiries.
 * {@link KeyExistence} explains the treatment of documents without values.
 */
record KeyCommands(DocumentService documents) {
    /** Approximate memory that a document takes in addition to its name. */
    private static final int DOCUMENT_BYTES = 120;

    private static final long NO_DOCUMENT = -2;
    private static final long NO_EXPIRY = -1;
    /** Stands for the expiry time of a document that does not expire. */
    private static final long NEVER = Long.MAX_VALUE;

    private static final int SECOND_MILLIS = 1000;
    private static final int FIRST_OPTION_WORD = 3;
    /** The conditions for a new expiry: that the old one is absent, is present, is earlier, or is later. */
    private static final Set<String> OPTIONS = Set.of("NX", "XX", "GT", "LT");

    /** Maximum number of names that {@code EXISTS} looks up in one turn. */
    static final int TURN_NAMES = 64;
    /** Maximum number of documents scanned in one turn. */
    private static final int TURN_DOCUMENTS = 1_000;

    private static final int USUAL_COUNT = 10;
    /** Maximum number of documents that a {@code SCAN} scans, and of names in the reply to {@code KEYS}. */
    private static final int MAX_COUNT = 10_000;

    List<CommandSpec> all() {
        return List.of(
                generic("DEL", -2, ALL, "", "Deletes documents, all or none.").write(KeyCommands::delete),
                generic("UNLINK", -2, ALL, "fast", "Deletes documents, as DEL does.")
                        .write(KeyCommands::delete),
                generic("EXISTS", -2, ALL, "fast", "Counts the documents that have values.")
                        .inTransaction(KeyCommands::existing)
                        .stream(this::exists),
                generic("TYPE", 2, FIRST, "fast", "Returns list, or none.")
                        .lookup(
                                documents,
                                lookup -> new Reply.Simple(KeyExistence.of(lookup) == null ? "none" : "list")),
                server("MEMORY", -2, SECOND, "", "Returns the bytes that a document uses.")
                        .read(new Subcommands()
                                .add("USAGE key [SAMPLES count]", 1, 3, (session, command) -> usage(command))),
                generic("OBJECT", -2, SECOND, "", "Returns how a document is stored.")
                        // The name that Redis uses for the encoding of long lists.
                        .read(new Subcommands()
                                .add(
                                        "ENCODING key",
                                        1,
                                        (session, command) -> ofExisting(command, info -> "quicklist"))),
                generic("SCAN", -2, NONE, "readonly", "Returns a page of document names and the next cursor.")
                        .needs(Permission.READ)
                        .waitingInTurns(this::scan),
                generic("KEYS", 2, NONE, "readonly", "Returns the names that match a pattern, up to a limit.")
                        .needs(Permission.READ)
                        .waitingInTurns(this::keys),
                server("DBSIZE", 1, "readonly fast", "Returns the number of documents.")
                        .waiting((session, command) -> new Reply.Number(documents.documents())),
                expire("EXPIRE", "Sets the seconds after which a document expires.", SECOND_MILLIS, true),
                expire("PEXPIRE", "Sets the milliseconds after which a document expires.", 1, true),
                expire("EXPIREAT", "Sets the Unix time in seconds at which a document expires.", SECOND_MILLIS, false),
                expire("PEXPIREAT", "Sets the Unix time in milliseconds at which a document expires.", 1, false),
                remaining("TTL", "Returns the seconds until a document expires.", SECOND_MILLIS),
                remaining("PTTL", "Returns the milliseconds until a document expires.", 1),
                generic("PERSIST", 2, FIRST, "fast", "Removes a document's expiry.")
                        .edit((session, command) -> KeyCommands::persist));
    }

    /** Deletes the documents, and returns the number of documents that had values. Counts a repeated name once. */
    private static Function<DocumentEdits, Reply> delete(
            Session session, Command command, Collection<DocumentName> names) {
        return edits -> {
            long held = 0;
            for (DocumentName name : names) {
                EditedDocument document = edits.document(name);
                held += KeyExistence.of(document::info) == null ? 0 : 1;
                if (KeyExistence.existing(document::info) != null) {
                    document.delete();
                }
            }
            return new Reply.Number(held);
        };
    }

    private static Function<DocumentEdits, Reply> existing(
            Session session, Command command, Collection<DocumentName> names) {
        return edits -> new Reply.Number(names.stream()
                .filter(name -> KeyExistence.of(edits.document(name)::info) != null)
                .count());
    }

    /**
     * Counts the existing documents. A turn looks up a limited number of names, because other reads also need threads,
     * and each document may have to be fetched from the archive.
     */
    ResumableRead exists(PendingReply place) {
        Iterator<DocumentName> names = place.command().names().iterator();
        return new ResumableRead() {
            private long existing;

            @Override
            public boolean proceed() {
                place.session.requireStillKnown();
                for (int i = 0; i < TURN_NAMES && names.hasNext(); i++) {
                    DocumentName name = names.next();
                    existing += KeyExistence.of(() -> documents.find(name)) == null ? 0 : 1;
                }
                if (names.hasNext()) {
                    place.wake();
                    return false;
                }
                place.complete(new Reply.Number(existing));
                return true;
            }
        };
    }

    /** Returns the size of the document's values, which are on disk, plus the memory that the document uses. */
    private Reply usage(Command command) {
        if (command.size() == 4 || command.size() == 5 && !command.is(3, "SAMPLES")) {
            throw CommandException.syntax();
        }
        byte[] name = command.word(2);
        return ofExisting(command, info -> documents.bytes(DocumentName.of(name), info) + name.length + DOCUMENT_BYTES);
    }

    private Reply ofExisting(Command command, Function<DocumentInfo, Object> value) {
        DocumentInfo info = KeyExistence.of(() -> documents.find(DocumentName.of(command.word(2))));
        return Reply.of(info == null ? null : value.apply(info));
    }

    private CommandSpec expire(String name, String summary, int unitMillis, boolean fromNow) {
        return generic(name, -3, FIRST, "fast", summary).edit((session, command) -> {
            long atMillis = moment(command, unitMillis, fromNow);
            Set<String> options = options(command);
            return document -> expire(document, atMillis, options);
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

    private static long moment(Command command, int unitMillis, boolean fromNow) {
        long number = command.number(2);
        try {
            long millis = Math.multiplyExact(number, unitMillis);
            return fromNow ? Math.addExact(System.currentTimeMillis(), millis) : millis;
        } catch (ArithmeticException overflow) {
            throw new CommandException("ERR invalid expire time in '" + command.lower(0) + "' command");
        }
    }

    private Reply expire(EditedDocument document, long atMillis, Set<String> options) {
        DocumentInfo info = KeyExistence.of(document::info);
        if (info == null || !allow(options, deadlineMillis(info), atMillis)) {
            return new Reply.Number(0);
        }
        if (atMillis <= System.currentTimeMillis()) {
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
        return generic(name, 2, FIRST, "fast", summary).lookup(documents, lookup -> {
            DocumentInfo info = KeyExistence.of(lookup);
            return new Reply.Number(info == null ? NO_DOCUMENT : remaining(info, unitMillis));
        });
    }

    /** Returns the time until the document expires, rounded to the nearest unit as in Redis. */
    private long remaining(DocumentInfo info, int unitMillis) {
        long deadline = deadlineMillis(info);
        long left = Math.max(0, deadline - System.currentTimeMillis());
        return deadline == NEVER ? NO_EXPIRY : (left + unitMillis / 2) / unitMillis;
    }

    /** Starts {@code SCAN}. If an option is repeated, the last one applies. */
    ResumableRead scan(PendingReply place) {
        Command command = place.command();
        int count = USUAL_COUNT;
        Glob match = Glob.ALL;
        Predicate<ScanPage.Found> type = found -> true;
        for (int i = 2; i < command.size(); i += 2) {
            if (i + 1 == command.size()) {
                throw CommandException.syntax();
            }
            switch (command.keyword(i)) {
                case "MATCH" -> match = new Glob(command.word(i + 1));
                case "COUNT" -> count = count(command, i + 1);
                case "TYPE" -> {
                    boolean lists = command.is(i + 1, "LIST");
                    type = found -> lists && found.info().count() > 0;
                }
                default -> throw CommandException.syntax();
            }
        }
        return scan(place, false, cursor(command), count, type, match);
    }

    ResumableRead keys(PendingReply place) {
        return scan(
                place,
                true,
                0,
                Long.MAX_VALUE,
                found -> true,
                new Glob(place.command().word(1)));
    }

    private static long cursor(Command command) {
        try {
            return command.count(1);
        } catch (CommandException none) {
            throw new CommandException("ERR invalid cursor");
        }
    }

    private static int count(Command command, int word) {
        long count = command.number(word);
        if (count < 1) {
            throw CommandException.syntax();
        }
        return (int) Math.min(count, MAX_COUNT);
    }

    /**
     * Lists the selected documents that the user may read: one page, with the next cursor, or all. A turn scans a
     * limited number of documents, so that other reads get threads, and the scan ends soon after the client
     * disconnects. The memory of the names found so far counts as memory of the reply.
     *
     * @param most maximum number of documents to scan
     */
    private ResumableRead scan(
            PendingReply place, boolean all, long from, long most, Predicate<ScanPage.Found> selected, Glob match) {
        return new ResumableRead() {
            private final List<Reply> names = new ArrayList<>();
            private long heldBytes;
            private long cursor = from;
            private long left = most;

            @Override
            public boolean proceed() {
                place.session.requireStillKnown();
                int count = (int) Math.min(TURN_DOCUMENTS, left);
                left -= count;
                ScanPage page = documents.scan(cursor, count);
                for (ScanPage.Found found : page.documents()) {
                    Reply.Bulk name = new Reply.Bulk(found.name().toBytes());
                    if (selected.test(found)
                            && match.matches(name.value())
                            && place.session.may(Permission.READ, found.name())) {
                        names.add(name);
                        heldBytes += name.heldBytes();
                    }
                }
                place.hold(heldBytes);
                if (all && names.size() > MAX_COUNT) {
                    throw new CommandException("ERR more than " + MAX_COUNT + " documents match; use SCAN, with MATCH");
                }
                cursor = page.next();
                if (cursor != 0 && left > 0) {
                    place.wake();
                    return false;
                }
                Reply found = new Reply.Array(names);
                place.complete(all ? found : Reply.Array.of(Long.toString(cursor), found));
                return true;
            }
        };
    }
}
