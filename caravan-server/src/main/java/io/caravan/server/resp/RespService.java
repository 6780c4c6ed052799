package io.caravan.server.resp;

import io.caravan.server.ServerStatus;
import io.caravan.server.document.DocumentService;
import io.netty.channel.EventLoop;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/** What all RESP connections share. */
final class RespService {
    private final DocumentService documents;
    private final Executor readers;
    private final RespLimits limits;
    private final CommandTable table;
    private final Map<EventLoop, CompletionInbox> inboxes = new ConcurrentHashMap<>();
    private final AtomicLong sessions = new AtomicLong();

    RespService(DocumentService documents, ServerStatus status, Executor readers, RespLimits limits) {
        this.documents = documents;
        this.readers = readers;
        this.limits = limits;
        this.table = new CommandTable(new ListCommands(documents), new ServerCommands(status));
    }

    DocumentService documents() {
        return documents;
    }

    /** Where reads run, which may wait. */
    Executor readers() {
        return readers;
    }

    RespLimits limits() {
        return limits;
    }

    CommandTable table() {
        return table;
    }

    CompletionInbox inbox(EventLoop loop) {
        return inboxes.computeIfAbsent(loop, CompletionInbox::new);
    }

    Session newSession() {
        return new Session(sessions.incrementAndGet());
    }
}
