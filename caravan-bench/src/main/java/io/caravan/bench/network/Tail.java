package io.caravan.bench.network;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A client that follows a stream on its own connection and passes on the stamp of each value. Runs on the event loop.
 */
abstract sealed class Tail implements ResponseListener permits LongPollTail, EventStreamTail {
    private final HttpLink link;
    private final String stream;
    private final String mode;
    private final LongConsumer stamps;
    private String offset;
    private @Nullable HttpResponse head;

    /** Why it stopped following; null while all is well. */
    private volatile @Nullable String problem;

    /**
     * Creates a tail that has not started.
     *
     * @param mode in the protocol's terms
     * @param offset of the first value to read
     * @param stamps receives the stamps on the event loop
     */
    Tail(HttpLink link, String stream, String mode, String offset, LongConsumer stamps) {
        this.link = link;
        this.stream = stream;
        this.mode = mode;
        this.offset = offset;
        this.stamps = stamps;
    }

    /** Requests the next values. */
    final void ask() {
        link.send(Requests.tail(stream, offset, mode), this);
    }

    /** The offset of the next request. */
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

    /** Handles a part of a successful response. */
    abstract void take(ByteBuf bytes);

    /** The response is complete. */
    abstract void complete();

    @Nullable
    String problem() {
        return problem;
    }
}
