package io.caravan.bench.network;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** A client that follows a stream on a connection of its own and tells the stamp of each value. Runs on the event loop. */
abstract sealed class Tail implements ResponseListener permits LongPollTail, EventStreamTail {
    private final HttpLink link;
    private final String stream;
    private final String mode;
    private final LongConsumer stamps;
    private String offset;
    private @Nullable HttpResponse head;

    /** Why it follows no more; null while all is well. */
    private volatile @Nullable String problem;

    /**
     * Makes one that has not begun.
     *
     * @param mode as the protocol calls it
     * @param offset of the first value to tell
     * @param stamps told on the event loop
     */
    Tail(HttpLink link, String stream, String mode, String offset, LongConsumer stamps) {
        this.link = link;
        this.stream = stream;
        this.mode = mode;
        this.offset = offset;
        this.stamps = stamps;
    }

    /** Asks for what comes next. */
    final void ask() {
        link.send(Requests.tail(stream, offset, mode), this);
    }

    /** Where the next question begins. */
    final void moveTo(String next) {
        offset = next;
    }

    final void tell(ByteBuf values) {
        StampedValue.stamps(values, stamps);
    }

    final HttpHeaders headers() {
        return Objects.requireNonNull(head).headers();
    }

    @Override
    public final void head(HttpResponse response) {
        head = response;
        if (!Answer.isSuccess(response)) {
            problem = "the server answered " + response.status();
        }
    }

    @Override
    public final void body(ByteBuf bytes) {
        if (problem == null) {
            take(bytes);
        }
    }

    @Override
    public final void end() {
        if (problem == null) {
            complete();
            ask();
        }
    }

    @Override
    public final void lost(String why) {
        problem = why;
    }

    /** Part of a response that is a success. */
    abstract void take(ByteBuf bytes);

    /** The response is complete. */
    abstract void complete();

    @Nullable
    String problem() {
        return problem;
    }
}
