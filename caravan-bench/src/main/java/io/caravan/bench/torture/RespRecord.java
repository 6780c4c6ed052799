package io.caravan.bench.torture;

import io.caravan.bench.server.RespConnection.Reply;
import java.util.List;
import java.util.function.Function;

/** One connection's requests and replies: its part of the ledger, and a model of its lists that follows the replies. */
final class RespRecord {
    private static final String NO_SPACE = "OOM ";

    private final String name;
    private final RespModel model;
    private final Ledger ledger;

    RespRecord(String name, RespModel model, Ledger ledger) {
        this.name = name;
        this.model = model;
        this.ledger = ledger;
    }

    void problem(String words) {
        ledger.problem(name + " " + words);
    }

    /** Generates an intent and records it. */
    Intent intend(IntentGenerator generator) {
        Intent intent = from(any -> generator.next());
        ledger.intend(intent);
        return intent;
    }

    /** Computes a result from the model, which changes with each reply. */
    <T> T from(Function<RespModel, T> computation) {
        synchronized (model) {
            return computation.apply(model);
        }
    }

    /** Records the server's reply to a change. */
    void answered(Intent intent, Reply reply) {
        String error = reply.error();
        if (error != null && error.startsWith(NO_SPACE)) {
            ledger.refusedForSpace(intent, error);
        } else if (error != null || reply.text() == null) {
            problem("requested " + intent + " and was answered " + words(reply));
        } else {
            synchronized (model) {
                model.apply(intent);
            }
            ledger.acknowledged(intent, told(reply.text()));
        }
    }

    private static long told(String text) {
        return text.equals("OK") ? RespModel.OK : Long.parseLong(text);
    }

    static String words(Reply reply) {
        List<byte[]> values = reply.values();
        return values != null
                ? values.size() + " values"
                : String.valueOf(reply.error() != null ? reply.error() : reply.text());
    }

    Ledger ledger() {
        return ledger;
    }
}
