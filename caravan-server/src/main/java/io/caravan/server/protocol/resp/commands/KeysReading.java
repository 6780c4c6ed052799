package io.caravan.server.protocol.resp.commands;

import io.caravan.server.document.DocumentService;
import io.caravan.server.document.ScanPage;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Reading;
import io.caravan.server.protocol.resp.dispatch.Session;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code KEYS}: the names that match a pattern, of all documents. It looks at some documents a turn, so that others get
 * their reading threads meanwhile, and a client that has gone costs no more than one turn. The names found so far count
 * as its answer, and it waits for room between its turns as all reads do.
 */
final class KeysReading implements Reading {
    /** Greatest number of names in the answer. */
    private static final int MAX_KEYS = 10_000;
    /** How many documents are looked at in one turn. */
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
        ScanPage page = documents.scan(cursor, TURN_DOCUMENTS);
        for (ScanPage.Found found : page.documents()) {
            byte[] name = found.name().toBytes();
            if (glob.matches(name) && ScanCommands.mayRead(session.principal(), found.name())) {
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
