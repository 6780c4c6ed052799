package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.NONE;
import static io.caravan.server.protocol.resp.CommandSpec.generic;
import static io.caravan.server.protocol.resp.CommandSpec.server;

import io.caravan.server.document.DocumentService;
import io.caravan.server.document.ScanPage;
import io.caravan.server.protocol.resp.CommandSpec.Access;
import io.caravan.server.protocol.resp.ResumableRead.Context;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.security.Permission;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** The commands that list the documents that the user may read, and {@code DBSIZE}, which counts all documents. */
public record ScanCommands(DocumentService documents) {
    private static final int USUAL_COUNT = 10;
    private static final int MAX_COUNT = 10_000;

    public List<CommandSpec> all() {
        return List.of(
                generic("SCAN", -2, NONE, "readonly", "Returns a page of document names and the next cursor.")
                        .access(Access.READ)
                        .waitingInTurns((command, context) -> NameScan.page(documents, command, context)),
                generic("KEYS", 2, NONE, "readonly", "Returns the names that match a pattern, up to a limit.")
                        .access(Access.READ)
                        .waitingInTurns((command, context) -> NameScan.all(documents, command, context)),
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

    private static int count(Command command, int word) {
        long count = command.number(word);
        if (count < 1) {
            throw CommandException.syntax();
        }
        return (int) Math.min(count, MAX_COUNT);
    }

    private static Predicate<ScanPage.Found> matches(byte[] pattern) {
        Glob glob = new Glob(pattern);
        return found -> glob.matches(found.name().toBytes());
    }

    /**
     * A read that lists the names of documents: one page ({@code SCAN}), or all names that match a pattern ({@code
     * KEYS}). A turn scans a limited number of documents, so that other reads get threads, and the scan ends soon after
     * the client disconnects. The memory of the names found so far counts as memory of the reply.
     */
    static final class NameScan implements ResumableRead {
        /** Maximum number of names in the reply to {@code KEYS}. */
        private static final int MAX_KEYS = 10_000;
        /** Maximum number of documents scanned in one turn. */
        private static final int TURN_DOCUMENTS = 1_000;

        private final DocumentService documents;
        private final Context context;
        private final boolean all;
        private final Predicate<ScanPage.Found> selected;
        private final List<Reply> names = new ArrayList<>();
        private long heldBytes;
        private long cursor;
        /** The number of documents that the command may still scan. */
        private long left;

        private NameScan(
                DocumentService documents,
                boolean all,
                long cursor,
                long count,
                Predicate<ScanPage.Found> selected,
                Context context) {
            this.documents = documents;
            this.context = context;
            this.all = all;
            this.cursor = cursor;
            this.selected = selected;
            this.left = count;
        }

        /** Starts {@code SCAN}. If an option is repeated, the last one applies. */
        static NameScan page(DocumentService documents, Command command, Context context) {
            int count = USUAL_COUNT;
            Predicate<ScanPage.Found> match = found -> true;
            Predicate<ScanPage.Found> type = match;
            for (int i = 2; i < command.size(); i += 2) {
                if (i + 1 == command.size()) {
                    throw CommandException.syntax();
                }
                switch (command.keyword(i)) {
                    case "MATCH" -> match = matches(command.word(i + 1));
                    case "COUNT" -> count = count(command, i + 1);
                    case "TYPE" -> {
                        boolean lists = command.is(i + 1, "LIST");
                        type = found -> lists && found.info().count() > 0;
                    }
                    default -> throw CommandException.syntax();
                }
            }
            return new NameScan(documents, false, ScanCommands.cursor(command), count, type.and(match), context);
        }

        static NameScan all(DocumentService documents, Command command, Context context) {
            return new NameScan(documents, true, 0, Long.MAX_VALUE, matches(command.word(1)), context);
        }

        @Override
        public boolean proceed() {
            context.session().requireStillKnown();
            int count = (int) Math.min(TURN_DOCUMENTS, left);
            left -= count;
            ScanPage page = documents.scan(cursor, count);
            for (ScanPage.Found found : page.documents()) {
                if (selected.test(found) && context.session().may(Permission.READ, found.name())) {
                    Reply.Bulk name = new Reply.Bulk(found.name().toBytes());
                    names.add(name);
                    heldBytes += name.heldBytes();
                }
            }
            context.place().hold(heldBytes);
            if (all && names.size() > MAX_KEYS) {
                throw new CommandException("ERR more than " + MAX_KEYS + " documents match; use SCAN, with MATCH");
            }
            cursor = page.next();
            if (cursor != 0 && left > 0) {
                context.wake().run();
                return false;
            }
            Reply found = new Reply.Array(names);
            context.place().complete(all ? found : Reply.Array.of(Long.toString(cursor), found));
            return true;
        }
    }
}
