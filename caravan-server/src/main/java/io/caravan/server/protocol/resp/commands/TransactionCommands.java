package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.transactions;

import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.RespLimits;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.protocol.resp.dispatch.Transaction;
import io.caravan.server.protocol.resp.dispatch.Transaction.Budget;
import java.util.List;

/** The commands for transactions, which combine several commands into one write. */
public final class TransactionCommands {
    private final RespLimits limits;
    private final Budget budget;

    public TransactionCommands(RespLimits limits) {
        this.limits = limits;
        this.budget = Budget.forProcess(limits.maxRequestBytes());
    }

    public List<CommandSpec> all() {
        return List.of(
                transactions("MULTI", 1, "Begins a transaction.").immediate(this::begin),
                transactions("EXEC", 1, "Runs the commands of the transaction, all or none.")
                        .commit((session, command) -> {
                            Transaction transaction = current(session, "EXEC");
                            // From now on, the memory of the queued commands counts as that of this request.
                            session.memory().hold(transaction.heldBytes());
                            session.transaction(null);
                            return transaction.change();
                        }),
                transactions("DISCARD", 1, "Discards the transaction.").immediate((session, command) -> {
                    current(session, "DISCARD");
                    session.transaction(null);
                    return Reply.OK;
                }));
    }

    private Reply begin(Session session, Command command) {
        if (session.transaction() != null) {
            throw new CommandException("ERR MULTI calls can not be nested");
        }
        session.transaction(new Transaction(limits.maxRequestBytes(), budget));
        return Reply.OK;
    }

    private static Transaction current(Session session, String command) {
        Transaction transaction = session.transaction();
        if (transaction == null) {
            throw new CommandException("ERR " + command + " without MULTI");
        }
        return transaction;
    }
}
