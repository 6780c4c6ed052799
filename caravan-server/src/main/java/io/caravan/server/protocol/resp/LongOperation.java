package io.caravan.server.protocol.resp;

import io.caravan.server.document.Outcome;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Starts a long operation, and replies when the operation is complete. Occupies no thread while the operation runs. */
final class LongOperation<T> implements ResumableRead, Outcome<T> {
    private final Consumer<Outcome<T>> start;
    private final Function<T, Reply> describe;
    private final ResumableRead.Context context;
    private boolean started;
    private @Nullable Reply reply;

    LongOperation(Consumer<Outcome<T>> start, Function<T, Reply> describe, ResumableRead.Context context) {
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
        context.place().complete(Objects.requireNonNull(reply));
        return true;
    }

    @Override
    public void success(T result) {
        complete(describe.apply(result));
    }

    @Override
    public void failure(RuntimeException problem) {
        complete(Errors.reply(problem));
    }

    private void complete(Reply reply) {
        this.reply = reply;
        context.wake().run();
    }
}
