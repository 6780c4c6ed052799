package io.caravan.server.protocol.resp.dispatch;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.RespLimits;
import io.caravan.server.protocol.resp.reply.Errors;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The commands between {@code MULTI} and {@code EXEC}, which become one change: all of it or none, with what they read
 * as it was at that moment. It is bounded in commands and in bytes, counted as {@link RespLimits} counts a request's.
 * Used only on the event loop.
 */
public final class Transaction {
    /** Greatest number of commands. */
    static final int MAX_COMMANDS = 16 * 1024;
    /** Memory of a command besides its words, about. */
    static final int STEP_BYTES = 256;

    private final long maxBytes;
    private final Budget budget;
    private final List<Step> steps = new ArrayList<>();
    private long bytes;
    /** What the budget has counted. */
    private long heldBytes;

    private boolean spoilt;

    private record Step(String command, Change change) {}

    public Transaction(long maxBytes, Budget budget) {
        this.maxBytes = maxBytes;
        this.budget = budget;
    }

    /** A command was refused, so the transaction will be too. */
    public void spoil() {
        spoilt = true;
        steps.clear();
        release();
    }

    /** Returns the commands' bytes to the budget: they are about to run, or are dropped. */
    void release() {
        budget.give(heldBytes);
        heldBytes = 0;
        bytes = 0;
    }

    /**
     * Takes a command, to be run later.
     *
     * @throws CommandException when it cannot be in a transaction, or is one too many
     */
    public Reply queue(Session session, CommandSpec spec, Command command) {
        Action.Write action = spec.queued();
        if (action == null) {
            throw new CommandException("ERR " + spec.name() + " cannot be in MULTI: a transaction holds commands that"
                    + " write documents, and short reads: LLEN, LRANGE, LINDEX, LPOP, EXISTS, TYPE, TTL, PTTL");
        }
        Change change = action.prepare(session, command);
        if (!spoilt) {
            hold(command.bytes());
            steps.add(new Step(spec.name(), change));
        }
        return new Reply.Simple("QUEUED");
    }

    private void hold(long commandBytes) {
        if (steps.size() == MAX_COMMANDS || bytes + commandBytes > maxBytes) {
            throw new CommandException(
                    "ERR the transaction is over the limit of " + MAX_COMMANDS + " commands or " + maxBytes + " bytes");
        }
        if (!budget.take(commandBytes + STEP_BYTES)) {
            throw new CommandException("ERR the transactions of all connections together are at the limit of "
                    + budget.limitBytes() + " bytes; try again");
        }
        heldBytes += commandBytes + STEP_BYTES;
        bytes += commandBytes;
    }

    /**
     * All commands as one change.
     *
     * @throws CommandException when one of them was refused
     */
    public Change change() {
        if (spoilt) {
            throw new CommandException("EXECABORT Transaction discarded because of previous errors.");
        }
        Set<DocumentName> names = new LinkedHashSet<>();
        steps.forEach(step -> names.addAll(step.change().names()));
        return new Change(names, this::apply);
    }

    private Reply apply(DocumentEdits edits) {
        List<Reply> replies = new ArrayList<>(steps.size());
        for (Step step : steps) {
            replies.add(apply(step, replies.size() + 1, edits));
        }
        return new Reply.Array(replies);
    }

    /** The error of one command is that of all, and says so; its prefix stays, because programs look at it. */
    private static Reply apply(Step step, int number, DocumentEdits edits) {
        try {
            return step.change().edit().apply(edits);
        } catch (RuntimeException refused) {
            throw new CommandException(Errors.reply(refused).text() + " (command " + number + " of the transaction, "
                    + step.command() + "; nothing has been changed)");
        }
    }

    /**
     * The memory for the commands of all connections' transactions together, because a client may wait with its {@code
     * EXEC} as long as it likes. Thread-safe.
     */
    public static final class Budget {
        /** Part of the heap that transactions may take, unless a single one may take more. */
        private static final int HEAP_PART = 8;

        private final long limitBytes;
        private final AtomicLong heldBytes = new AtomicLong();

        Budget(long limitBytes) {
            this.limitBytes = limitBytes;
        }

        /** A budget for this process, which lets every transaction be as large as it may. */
        public static Budget forProcess(long transactionBytes) {
            return new Budget(Math.max(transactionBytes, Runtime.getRuntime().maxMemory() / HEAP_PART));
        }

        long limitBytes() {
            return limitBytes;
        }

        /** Takes bytes, or returns false when there are not so many. */
        boolean take(long bytes) {
            if (heldBytes.addAndGet(bytes) <= limitBytes) {
                return true;
            }
            heldBytes.addAndGet(-bytes);
            return false;
        }

        void give(long bytes) {
            heldBytes.addAndGet(-bytes);
        }
    }
}
