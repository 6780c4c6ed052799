package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.NONE;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.generic;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.server;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.ScanPage;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.CommandSpec.Access;
import io.caravan.server.protocol.resp.dispatch.Glob;
import io.caravan.server.protocol.resp.dispatch.Reading;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The commands that list the documents that the user may read, and {@code DBSIZE}, which counts all documents. */
public final class ScanCommands {
    private static final int USUAL_COUNT = 10;
    private static final int MAX_COUNT = 10_000;

    private final DocumentService documents;

    public ScanCommands(DocumentService documents) {
        this.documents = documents;
    }

    public List<CommandSpec> all() {
        return List.of(
                generic("SCAN", -2, NONE, "readonly", "Returns a page of document names and the next cursor.")
                        .access(Access.READ)
                        .waitingInTurns(
                                (session, command, context) -> new ScanReading(documents, session, command, context)),
                generic("KEYS", 2, NONE, "readonly", "Returns the names that match a pattern, up to a limit.")
                        .access(Access.READ)
                        .waitingInTurns(
                                (session, command, context) -> new KeysReading(documents, session, command, context)),
                server("DBSIZE", 1, NONE, "readonly fast", "Returns the number of documents.")
                        .waiting((session, command) -> new Reply.Number(documents.documents())));
    }

    private static long cursor(Command command) {
        try {
            return command.count(1);
        } catch (CommandException none) {
            throw new CommandException("ERR invalid cursor");
        }
    }

    static boolean mayRead(@Nullable Principal principal, DocumentName name) {
        return principal != null && principal.may(Permission.READ, name);
    }

    /**
     * The options of {@code SCAN cursor [MATCH pattern] [COUNT n] [TYPE type]}. If an option is repeated, the last one
     * applies.
     *
     * @param count maximum number of documents to scan
     * @param match selects documents by name
     * @param type selects documents by type
     */
    private record ScanOptions(int count, Predicate<ScanPage.Found> match, Predicate<ScanPage.Found> type) {
        boolean takes(ScanPage.Found found) {
            return type.test(found) && match.test(found);
        }

        static ScanOptions of(Command command) {
            int count = USUAL_COUNT;
            Predicate<ScanPage.Found> match = found -> true;
            Predicate<ScanPage.Found> type = match;
            for (int i = 2; i < command.size(); i += 2) {
                if (i + 1 == command.size()) {
                    throw CommandException.syntax();
                }
                switch (command.keyword(i)) {
                    case "MATCH" -> match = match(command.word(i + 1));
                    case "COUNT" -> count = count(command, i + 1);
                    case "TYPE" -> {
                        boolean lists = command.is(i + 1, "LIST");
                        type = found -> lists && found.info().count() > 0;
                    }
                    default -> throw CommandException.syntax();
                }
            }
            return new ScanOptions(count, match, type);
        }

        private static Predicate<ScanPage.Found> match(byte[] pattern) {
            Glob glob = new Glob(pattern);
            return found -> glob.matches(found.name().toBytes());
        }

        private static int count(Command command, int word) {
            long count = command.number(word);
            if (count < 1) {
                throw CommandException.syntax();
            }
            return (int) Math.min(count, MAX_COUNT);
        }
    }

    /**
     * Returns a page of names ({@code SCAN}). A turn scans a limited number of documents, as in {@link KeysReading}.
     */
    static final class ScanReading implements Reading {
        private final DocumentService documents;
        private final Session session;
        private final Reading.Context context;
        private final ScanOptions options;
        private final List<Reply> names = new ArrayList<>();
        private long heldBytes;
        private long cursor;
        private int looked;

        ScanReading(DocumentService documents, Session session, Command command, Reading.Context context) {
            this.documents = documents;
            this.session = session;
            this.context = context;
            this.options = ScanOptions.of(command);
            this.cursor = cursor(command);
        }

        @Override
        public boolean proceed() {
            context.checkStillKnown();
            int count = Math.min(KeysReading.TURN_DOCUMENTS, options.count() - looked);
            ScanPage page = documents.scan(cursor, count);
            looked += count;
            for (ScanPage.Found found : page.documents()) {
                if (options.takes(found) && mayRead(session.principal(), found.name())) {
                    Reply.Bulk name = new Reply.Bulk(found.name().toBytes());
                    names.add(name);
                    heldBytes += name.heldBytes();
                }
            }
            context.place().hold(heldBytes);
            cursor = page.next();
            if (cursor == 0 || looked >= options.count()) {
                context.place().complete(Reply.Array.of(Long.toString(cursor), new Reply.Array(names)));
                return true;
            }
            context.wake().run();
            return false;
        }
    }

    /**
     * Returns the names of all documents that match a pattern ({@code KEYS}). A turn scans a limited number of
     * documents, so that other reads get threads, and the scan ends soon after the client disconnects. The names found
     * so far count as memory of the reply.
     */
    static final class KeysReading implements Reading {
        /** Maximum number of names in the reply. */
        private static final int MAX_KEYS = 10_000;
        /** Maximum number of documents scanned in one turn. */
        private static final int TURN_DOCUMENTS = 1_000;

        private final DocumentService documents;
        private final Session session;
        private final Reading.Context context;
        private final Glob glob;
        private final List<Reply> names = new ArrayList<>();
        private long heldBytes;
        private long cursor;

        KeysReading(DocumentService documents, Session session, Command command, Reading.Context context) {
            this.documents = documents;
            this.session = session;
            this.context = context;
            this.glob = new Glob(command.word(1));
        }

        @Override
        public boolean proceed() {
            context.checkStillKnown();
            ScanPage page = documents.scan(cursor, TURN_DOCUMENTS);
            for (ScanPage.Found found : page.documents()) {
                byte[] name = found.name().toBytes();
                if (glob.matches(name) && mayRead(session.principal(), found.name())) {
                    Reply.Bulk reply = new Reply.Bulk(name);
                    names.add(reply);
                    heldBytes += reply.heldBytes();
                }
            }
            context.place().hold(heldBytes);
            if (names.size() > MAX_KEYS) {
                throw new CommandException("ERR more than " + MAX_KEYS + " documents match; use SCAN, with MATCH");
            }
            cursor = page.next();
            if (cursor == 0) {
                context.place().complete(new Reply.Array(names));
                return true;
            }
            context.wake().run();
            return false;
        }
    }
}
