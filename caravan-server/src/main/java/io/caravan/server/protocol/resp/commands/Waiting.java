package io.caravan.server.protocol.resp.commands;

import io.caravan.server.document.Outcome;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Reading;
import io.caravan.server.protocol.resp.reply.Errors;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Starts a long operation, and replies when the operation is complete. Occupies no thread in between. */
final class Waiting<T> implements Reading, Outcome<T> {
    private final Consumer<Outcome<T>> start;
    private final Function<T, Reply> describe;
    private final Reading.Context context;
    private boolean started;
    private @Nullable Reply answer;

    Waiting(Consumer<Outcome<T>> start, Function<T, Reply> describe, Reading.Context context) {
        this.start = start;
        this.describe = describe;
        this.context = context;
    }

    @Override
    public boolean proceed() {
        if (!started) {
            started = true;
            start.accept(this);
            return false;
        }
        context.place().complete(Objects.requireNonNull(answer));
        return true;
    }

    @Override
    public void success(T result) {
        answered(describe.apply(result));
    }

    @Override
    public void failure(RuntimeException problem) {
        answered(Errors.reply(problem));
    }

    private void answered(Reply reply) {
        answer = reply;
        context.wake().run();
    }
}
