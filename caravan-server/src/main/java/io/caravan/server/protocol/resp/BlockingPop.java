package io.caravan.server.protocol.resp;

import io.caravan.NotWritableException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ChangeWait;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.Prefetch;
import io.caravan.server.protocol.resp.CommandSpec.Keys;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Executes {@code BLPOP}: removes and returns the oldest value of the first document that has values, or waits, without
 * occupying a thread, for its turn and a value. The wait ends at its timeout, when the client disconnects, or when the
 * server stops. After the wait has ended, the command removes no value.
 *
 * <p>The command checks its documents when it begins, when one of them has changed, and when it becomes the first
 * waiter for one of them. The checks run independently of the turns of the connection, because these turns pause while
 * replies are at their limit. Such a pause would delay the next waiters in the {@link PopQueues}.
 */
final class BlockingPop implements ResumableRead {
    /** The positions of the names: all words except the first and the last. */
    static final Keys KEYS = new Keys(1, -2);
    /** Approximate memory that a place in the queue for a name takes in addition to the name. */
    private static final int PLACE_BYTES = 448;
    /** Maximum number of names in one command. */
    static final int MAX_NAMES = 1_024;
    /** The reply if the wait ends because the server is stopping or is no longer the leader. */
    private static final Reply UNBLOCKED =
            new Reply.Error("UNBLOCKED the server is stopping, or is no longer the leader; no value was removed");
    /** The reply to a client that has closed its side of the connection, but may still read replies. */
    private static final Reply CLIENT_DONE =
            new Reply.Error("UNBLOCKED the client has closed its side of the connection; no value was removed");
    /** Format of a timeout in seconds, up to about 30 years. */
    private static final Pattern TIMEOUT = Pattern.compile("-?(?=[.]?[0-9])[0-9]{0,9}([.][0-9]{0,20})?");

    private final ListCommands commands;
    private final DocumentService documents;
    private final PopQueues queues;
    private final Session session;
    private final PendingReply place;
    private final EventLoop loop;
    private final List<DocumentName> names;
    private final long timeoutMillis;
    private final Runnable waiter = this::wake;
    private final ChangeWait wait;

    private long placesBytes;
    /** The reply with which the wait ends without a value; null while the wait continues. */
    private volatile @Nullable Reply over;

    /** The reason why an attempt to remove a value was rejected. May be set after the attempt has returned. */
    private volatile @Nullable RuntimeException rejected;

    private boolean replied;
    /** Whether the wait has begun. Used on the event loop. */
    private boolean begun;

    BlockingPop(ListCommands commands, PendingReply place) {
        this.commands = commands;
        this.documents = commands.documents();
        this.queues = commands.pops();
        this.session = place.session;
        this.place = place;
        this.loop = session.channel.eventLoop();
        this.timeoutMillis = timeoutMillis(place.command());
        this.names = names(place.command());
        this.wait = new ChangeWait(
                loop,
                MAX_NAMES,
                documents::onChange,
                due -> session.execute(commands.readers(), this::runTurn),
                this::leave);
    }

    /** Returns the documents that the command names, without duplicates. */
    static List<DocumentName> names(Command command) {
        int words = command.size() - 2;
        if (words > MAX_NAMES) {
            throw new CommandException("ERR BLPOP accepts at most " + MAX_NAMES + " names, not " + words);
        }
        return KEYS.of(command).stream().map(DocumentName::of).distinct().toList();
    }

    /** Returns the timeout of the command; 0 means no timeout. */
    static long timeoutMillis(Command command) {
        String seconds = command.shortText(command.size() - 1);
        if (!TIMEOUT.matcher(seconds).matches()) {
            throw new CommandException("ERR timeout is not a float or out of range");
        }
        double millis = Double.parseDouble(seconds) * TimeUnit.SECONDS.toMillis(1);
        if (millis < 0) {
            throw new CommandException("ERR timeout is negative");
        }
        return (long) Math.ceil(millis);
    }

    @Override
    public boolean proceed() {
        if (replied) {
            return true;
        }
        session.requireStillKnown();
        documents.requireOneGroup(names);
        // As a read does, fetch the documents that only the archive has, until a document with a value is found.
        for (DocumentName name : names) {
            if (KeyExistence.of(() -> documents.find(name)) != null) {
                break;
            }
        }
        placesBytes = names.stream()
                .mapToLong(name -> PLACE_BYTES + name.toBytes().length)
                .sum();
        if (!session.memory.reserveWait(placesBytes)) {
            throw new CommandException("ERR the memory for waiting clients is used up, by this connection or by all"
                    + " connections; try again later, or with fewer names");
        }
        try {
            queues.join(names, waiter);
        } catch (CommandException rejected) {
            session.memory.releaseWait(placesBytes);
            throw rejected;
        }
        return turn();
    }

    /** Checks the documents once. Returns true if the reply is complete or will be completed without another check. */
    private boolean turn() {
        boolean ends = true;
        try {
            ends = check();
            return ends;
        } finally {
            loop.execute(ends ? wait::close : this::rest);
        }
    }

    /** Waits for the next change to one of the documents. Called on the event loop. */
    private void rest() {
        if (begun) {
            wait.checked(List.of());
            return;
        }
        begun = true;
        Duration limit = timeoutMillis == 0 ? null : Duration.ofMillis(timeoutMillis);
        wait.begin(first(), limit, () -> finish(Reply.Null.ARRAY));
        session.onEnding(() -> finish(session.clientDone ? CLIENT_DONE : UNBLOCKED));
    }

    /** Returns the documents from which this command may remove a value, because it is the first waiter. */
    private List<DocumentName> first() {
        return queues.first(names, waiter);
    }

    private boolean check() {
        session.requireStillKnown();
        throwRejection();
        Reply end = session.channel.isActive() ? over : UNBLOCKED;
        if (end != null) {
            place.complete(end);
            return true;
        }
        List<DocumentName> mine = first();
        // A failed attempt would also count as a change, and wake this command again.
        if (mine.stream().noneMatch(name -> hasValues(name) || documents.moved(name))) {
            return false;
        }
        if (!documents.writable(mine)) {
            documents.onWritable(mine, loop, false, session.waiting.add(this::wake));
            return false;
        }
        AtomicReference<@Nullable Reply> taken = new AtomicReference<>();
        try {
            documents.writeWaiting(
                    mine,
                    edits -> {
                        taken.set(take(mine, edits));
                        return taken.get() != null;
                    },
                    new Prefetch(commands.maxBytes()),
                    Outcome.of(took -> replyTaken(taken.get()), problem -> fail(taken.get(), problem)));
        } catch (NotWritableException rejection) {
            // Other writes have taken the space.
            place.hold(0);
            documents.onWritable(mine, loop, true, session.waiting.add(this::wake));
            return false;
        }
        throwRejection();
        return taken.get() != null;
    }

    /** Removes and returns a value, if one exists and the wait is not over. May be called several times. */
    private @Nullable Reply take(List<DocumentName> mine, DocumentEdits edits) {
        boolean gone = over != null || !session.channel.isActive();
        Reply taken = gone ? null : ListCommands.takeFirst(mine, edits);
        place.hold(taken == null ? 0 : taken.heldBytes());
        return taken;
    }

    private void replyTaken(@Nullable Reply taken) {
        if (taken != null) {
            place.complete(taken);
        }
    }

    private void fail(@Nullable Reply taken, RuntimeException problem) {
        if (taken != null) {
            place.failure(problem);
        } else {
            rejected = problem;
            wake();
        }
    }

    private void throwRejection() {
        RuntimeException problem = rejected;
        if (problem != null) {
            throw problem;
        }
    }

    private boolean hasValues(DocumentName name) {
        DocumentInfo info = documents.peek(name);
        return info != null && info.count() > 0;
    }

    /** Requests another check. Callable on any thread. */
    private void wake() {
        loop.execute(() -> wait.changed(first()));
    }

    private void runTurn() {
        try {
            if (!turn()) {
                // Another thread may be taking the next turn already.
                return;
            }
        } catch (RuntimeException problem) {
            place.failure(problem);
        } catch (Error broken) {
            session.channel.close();
            throw broken;
        }
        replied = true;
        place.wake();
    }

    /** Prevents further attempts, and ends the wait. Called on the event loop. */
    private void finish(Reply end) {
        over = end;
        wait.expire();
    }

    /** Leaves the queues, so that the next waiters get their turn. Called on the event loop. */
    private void leave() {
        session.onEnding(null);
        session.memory.releaseWait(placesBytes);
        queues.leave(names, waiter);
    }

    /**
     * Queues the waiters for the values of each document, in order of arrival. Only the first waiter in a queue may take
     * values of the document. A waiter that becomes the first in a queue is woken. Thread-safe.
     */
    static final class PopQueues {
        /** Maximum total number of names for which clients may wait. A name counts once for each waiter. */
        static final int MAX_PLACES = 65_536;

        private final Map<DocumentName, LinkedHashSet<Runnable>> queues = new HashMap<>();
        private int places;

        /**
         * Adds a waiter to the end of the queue of each of these names. It runs, on any thread, when other waiters leave
         * and it becomes the first of a queue. Throws a {@link CommandException} without adding it if {@link #MAX_PLACES}
         * would be exceeded.
         */
        synchronized void join(Collection<DocumentName> names, Runnable waiter) {
            if (places + names.size() > MAX_PLACES) {
                throw new CommandException("ERR clients wait for " + places + " names, and the limit is " + MAX_PLACES
                        + "; try again later, or with fewer names");
            }
            places += names.size();
            names.forEach(name ->
                    queues.computeIfAbsent(name, queue -> new LinkedHashSet<>()).add(waiter));
        }

        synchronized int places() {
            return places;
        }

        /** Returns those names for which the waiter is the first in the queue. */
        synchronized List<DocumentName> first(Collection<DocumentName> names, Runnable waiter) {
            return names.stream().filter(name -> first(name) == waiter).toList();
        }

        private @Nullable Runnable first(DocumentName name) {
            LinkedHashSet<Runnable> queue = queues.get(name);
            return queue == null ? null : queue.iterator().next();
        }

        /** Removes the waiter from the queues of these names, and wakes each waiter that becomes the first in a queue. */
        void leave(Collection<DocumentName> names, Runnable waiter) {
            Set<Runnable> next = new LinkedHashSet<>();
            synchronized (this) {
                for (DocumentName name : names) {
                    boolean wasFirst = first(name) == waiter;
                    queues.computeIfPresent(name, (same, queue) -> {
                        places -= queue.remove(waiter) ? 1 : 0;
                        return queue.isEmpty() ? null : queue;
                    });
                    Runnable first = first(name);
                    if (wasFirst && first != null) {
                        next.add(first);
                    }
                }
            }
            next.forEach(Runnable::run);
        }
    }
}
