package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.transactions;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.DocumentEdits.MissingNameException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * The commands between {@code MULTI} and {@code EXEC}, which become one atomic write. Reads in a transaction reflect
 * the earlier writes of the transaction. The number and the total size of the commands, counted as in {@link
 * RespLimits}, are limited. Used only on the event loop.
 */
final class Transaction {
    static final int MAX_COMMANDS = 16 * 1024;
    /** Approximate memory that a command takes in addition to its words. */
    static final int STEP_BYTES = 256;

    private final long maxBytes;
    private final Budget budget;
    private final List<Step> steps = new ArrayList<>();
    private long bytes;
    /** The number of bytes reserved from the budget for the queued commands. */
    private long heldBytes;

    private boolean spoilt;

    private record Step(String command, Collection<DocumentName> names, Function<DocumentEdits, Reply> change) {}

    Transaction(long maxBytes, Budget budget) {
        this.maxBytes = maxBytes;
        this.budget = budget;
    }

    static List<CommandSpec> commands(RespLimits limits) {
        Budget budget = new Budget(
                Math.max(limits.maxRequestBytes(), Runtime.getRuntime().maxMemory() / Budget.HEAP_PART));
        return List.of(
                transactions("MULTI", "Begins a transaction.").immediate((session, command) -> {
                    if (session.transaction() != null) {
                        throw new CommandException("ERR MULTI calls can not be nested");
                    }
                    session.transaction(new Transaction(limits.maxRequestBytes(), budget));
                    return Reply.OK;
                }),
                transactions("EXEC", "Runs the commands of the transaction, all or none.")
                        .commit((session, command, names) -> {
                            Transaction transaction = current(session, "EXEC");
                            // From now on, the memory of the queued commands counts as that of this request.
                            session.memory.hold(transaction.heldBytes);
                            session.transaction(null);
                            return transaction.change();
                        }),
                transactions("DISCARD", "Discards the transaction.").immediate((session, command) -> {
                    current(session, "DISCARD");
                    session.transaction(null);
                    return Reply.OK;
                }));
    }

    private static Transaction current(Session session, String command) {
        Transaction transaction = session.transaction();
        if (transaction == null) {
            throw new CommandException("ERR " + command + " without MULTI");
        }
        return transaction;
    }

    /** Marks the transaction as failed, because a command was rejected. */
    void spoil() {
        spoilt = true;
        steps.clear();
        release();
    }

    /** Releases the reserved memory, because the commands are dropped or the connection counts their memory. */
    void release() {
        budget.heldBytes().addAndGet(-heldBytes);
        heldBytes = 0;
        bytes = 0;
    }

    /** Queues a command. Throws if it cannot be in a transaction, or a limit would be exceeded. */
    Reply queue(Session session, Command command) {
        CommandSpec spec = command.spec;
        Action.Write action = spec.queued;
        if (action == null) {
            throw new CommandException("ERR " + spec.name + " cannot be in MULTI: a transaction contains commands that"
                    + " write documents, and short reads: LLEN, LRANGE, LINDEX, LPOP, EXISTS, TYPE, TTL, PTTL");
        }
        Collection<DocumentName> names = command.names();
        Function<DocumentEdits, Reply> change = action.prepare(session, command, names);
        if (!spoilt) {
            hold(command.bytes());
            steps.add(new Step(spec.name, names, change));
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

    Collection<DocumentName> names() {
        Set<DocumentName> names = new LinkedHashSet<>();
        steps.forEach(step -> names.addAll(step.names()));
        return names;
    }

    /** Returns the changes of all queued commands as one. Throws if a command was rejected. */
    Function<DocumentEdits, Reply> change() {
        if (spoilt) {
            throw new CommandException("EXECABORT Transaction discarded because of previous errors.");
        }
        return this::apply;
    }

    private Reply apply(DocumentEdits edits) {
        List<Reply> replies = new ArrayList<>(steps.size());
        for (Step step : steps) {
            replies.add(apply(step, replies.size() + 1, edits));
        }
        return new Reply.Array(replies);
    }

    /**
     * Applies one command of the transaction. If the command fails, the transaction fails with the same error, to which
     * the number and the name of the command are added. The prefix of the error does not change, because programs check
     * the prefix.
     */
    private static Reply apply(Step step, int number, DocumentEdits edits) {
        try {
            return step.change().apply(edits);
        } catch (MissingNameException repeated) {
            throw repeated;
        } catch (RuntimeException rejected) {
            throw new CommandException(CommandException.reply(rejected).text() + " (command " + number
                    + " of the transaction, " + step.command() + "; nothing has been changed)");
        }
    }

    /** The memory of all transactions; limited because clients may delay {@code EXEC} indefinitely. Thread-safe. */
    record Budget(long limitBytes, AtomicLong heldBytes) {
        /** The limit is this part of the JVM heap, or more if a single transaction may be larger. */
        private static final int HEAP_PART = 8;

        Budget(long limitBytes) {
            this(limitBytes, new AtomicLong());
        }

        /** Reserves bytes. Returns false, and reserves none, if fewer are available. */
        boolean take(long bytes) {
            boolean fits = heldBytes.addAndGet(bytes) <= limitBytes;
            if (!fits) {
                heldBytes.addAndGet(-bytes);
            }
            return fits;
        }
    }
}
