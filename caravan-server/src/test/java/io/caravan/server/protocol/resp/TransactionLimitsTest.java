package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

/** Tests the limit on the total memory of all open transactions. */
class TransactionLimitsTest {
    private static final CommandSpec PUSH = CommandSpec.list("RPUSH", -3, CommandSpec.Keys.FIRST, "", "")
            .edit((session, command) -> document -> Reply.OK);
    /** A command of 3 words with 9 bytes in total. */
    private static final Command COMMAND = RespFixture.command(PUSH, "RPUSH", "key", "v");

    private static final int COMMAND_BYTES = 3 * RespLimits.WORD_OVERHEAD_BYTES + 9 + Transaction.STEP_BYTES;

    private final Transaction.Budget budget = new Transaction.Budget(3 * COMMAND_BYTES);
    private final Session one = session();
    private final Session other = session();

    private static Session session() {
        EmbeddedChannel channel = new EmbeddedChannel();
        return RespFixture.session(channel);
    }

    private Transaction begin(Session session) {
        Transaction transaction = new Transaction(1_000, budget);
        session.transaction(transaction);
        return transaction;
    }

    private static void queue(Session session, Transaction transaction) {
        assertThat(transaction.queue(session, COMMAND)).isEqualTo(new Reply.Simple("QUEUED"));
    }

    private void assertFull() {
        Transaction full = new Transaction(1_000, budget);
        assertThatExceptionOfType(CommandException.class)
                .isThrownBy(() -> full.queue(one, COMMAND))
                .withMessage("ERR the transactions of all connections together are at the limit of " + 3 * COMMAND_BYTES
                        + " bytes; try again");
    }

    @Test
    void endedTransactionReleasesItsBytes() {
        Transaction first = begin(one);
        queue(one, first);
        queue(one, first);
        Transaction second = begin(other);
        queue(other, second);
        assertFull();
        second.spoil();
        queue(one, first);
        queue(other, second);
        assertFull();
        one.transaction(null);
        other.transaction(null);
        Transaction third = begin(one);
        queue(one, third);
        queue(one, third);
        one.reset();
        Transaction fourth = begin(other);
        queue(other, fourth);
        queue(other, fourth);
        queue(other, fourth);
        assertFull();
    }
}
