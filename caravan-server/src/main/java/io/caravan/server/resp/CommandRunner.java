package io.caravan.server.resp;

import io.caravan.server.document.DocumentService;
import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs one connection's requests in their order.
 *
 * <p>A write is handed to the store at once and answered later. Consecutive reads go to a reading thread together, and
 * what follows waits until they are done: so a read sees every write before it, because the store has accepted it, and
 * none behind it. Nothing runs while the store has no room or too many answers are pending; {@link #full()} then tells the
 * connection to read no more. The event loop's alone.
 */
final class CommandRunner {
    /** Requests that may wait to be run; what has been read from the socket may go beyond. */
    private static final int MAX_WAITING = 128;

    private static final int MAX_READS_TOGETHER = 64;

    private final Channel channel;
    private final Session session;
    private final ReplyQueue replies;
    private final CommandTable table;
    private final DocumentService documents;
    private final Executor readers;
    private final Runnable progress;
    private final int maxPending;

    private final Deque<Request> waiting = new ArrayDeque<>();
    private boolean reading;
    private boolean awaitingRoom;
    private boolean refusedLast;

    /**
     * Makes a runner that has nothing to do.
     *
     * @param progress is run on the event loop when requests can be run that had to wait; it calls {@link #run()}
     */
    CommandRunner(Channel channel, Session session, ReplyQueue replies, RespService service, Runnable progress) {
        this.channel = channel;
        this.session = session;
        this.replies = replies;
        this.table = service.table();
        this.documents = service.documents();
        this.readers = service.readers();
        this.progress = progress;
        this.maxPending = service.limits().maxPending();
    }

    /** Takes the next request, and runs it if it need not wait. */
    void offer(Request request) {
        if (!session.quitting()) {
            waiting.add(request);
            run();
        }
    }

    /** Whether nothing should be read from the socket. */
    boolean full() {
        return awaitingRoom || session.quitting() || waiting.size() >= MAX_WAITING || replies.size() >= maxPending;
    }

    /** Whether every request so far has been run and its answer written. */
    boolean idle() {
        return waiting.isEmpty() && replies.size() == 0;
    }

    /** Whether the connection ends with an error, and the client may still be sending. */
    boolean refusedLast() {
        return refusedLast;
    }

    /** Forgets what waits: the connection is gone. */
    void close() {
        session.quit();
        waiting.clear();
    }

    /** Runs what can be run now. */
    void run() {
        while (!reading && !awaitingRoom && replies.size() < maxPending && !waiting.isEmpty()) {
            runNext();
        }
    }

    private void runNext() {
        Request next = waiting.element();
        if (next instanceof Request.Malformed malformed) {
            answerLast("ERR Protocol error: " + malformed.problem());
            return;
        }
        if (next instanceof Request.Refused refused) {
            answerLast(refused.error());
            return;
        }
        Command command = (Command) next;
        CommandSpec spec = table.find(command);
        if (spec == null || !spec.takes(command.size())) {
            takePlace().complete(spec == null ? CommandTable.unknown(command) : spec.wrongArity());
        } else if (spec.action() instanceof Action.Immediate action) {
            answer(action, command);
        } else if (spec.action() instanceof Action.Write action) {
            write(action, command);
        } else {
            read();
        }
    }

    private void answerLast(String error) {
        takePlace().complete(new Reply.Error(error));
        refusedLast = true;
        session.quit();
        waiting.clear();
    }

    private void answer(Action.Immediate action, Command command) {
        PendingReply place = takePlace();
        try {
            place.complete(action.run(session, command));
        } catch (RuntimeException problem) {
            place.complete(Errors.reply(problem));
        }
        if (session.quitting()) {
            waiting.clear();
        }
    }

    private void write(Action.Write action, Command command) {
        PendingReply place = null;
        try {
            if (!documents.writable()) {
                awaitRoom();
                return;
            }
            place = takePlace();
            action.run(command, place);
        } catch (RuntimeException refused) {
            (place == null ? takePlace() : place).complete(Errors.reply(refused));
        }
    }

    private PendingReply takePlace() {
        waiting.remove();
        return replies.open();
    }

    private void awaitRoom() {
        documents.onWritable(() -> channel.eventLoop().execute(this::roomFound));
        awaitingRoom = true;
    }

    private void roomFound() {
        awaitingRoom = false;
        progress.run();
    }

    private void read() {
        List<Runnable> reads = new ArrayList<>();
        while (reads.size() < MAX_READS_TOGETHER
                && waiting.peek() instanceof Command command
                && runnableAction(command) instanceof Action.Read action) {
            PendingReply place = takePlace();
            reads.add(() -> read(action, command, place));
        }
        reading = true;
        readers.execute(() -> {
            try {
                reads.forEach(Runnable::run);
            } finally {
                // Or the connection would wait for ever.
                channel.eventLoop().execute(this::readsDone);
            }
        });
    }

    private @Nullable Action runnableAction(Command command) {
        CommandSpec spec = table.find(command);
        return spec != null && spec.takes(command.size()) ? spec.action() : null;
    }

    private void read(Action.Read action, Command command, PendingReply place) {
        if (!channel.isActive()) {
            return;
        }
        try {
            action.run(command, place, channel);
        } catch (RuntimeException problem) {
            place.complete(Errors.reply(problem));
        } catch (Error broken) {
            // There is no answer, and all later ones would wait for it.
            channel.close();
            throw broken;
        }
    }

    private void readsDone() {
        reading = false;
        progress.run();
    }
}
