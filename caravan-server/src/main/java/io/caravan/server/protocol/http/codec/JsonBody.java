package io.caravan.server.protocol.http.codec;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.JsonMessages;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes JSON bodies apart into the messages that they hold, no more than fit one write of the store, as they are appended
 * all or not at all. For any thread.
 */
public final class JsonBody {
    /** What the store writes of a message beside its bytes, at most. */
    public static final int MESSAGE_OVERHEAD_BYTES = 47;

    private final long limitBytes;

    /**
     * Makes a splitter.
     *
     * @param limitBytes what the messages of a body may take in one write, each with {@link #MESSAGE_OVERHEAD_BYTES}; a
     *     single message is not counted, as its length has a limit of its own
     */
    public JsonBody(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /**
     * The messages of a body.
     *
     * @throws ProblemException when they are too many for one write
     * @throws io.caravan.server.document.DocumentException {@code NOT_JSON}
     */
    public List<byte[]> messages(DocumentName name, byte[] body) {
        List<byte[]> messages = new ArrayList<>();
        long[] bytes = {0};
        JsonMessages.forEach(name, body, message -> {
            bytes[0] += MESSAGE_OVERHEAD_BYTES + message.length;
            if (bytes[0] > limitBytes && !messages.isEmpty()) {
                throw tooMany(messages.size());
            }
            messages.add(message);
        });
        return messages;
    }

    private ProblemException tooMany(int fitting) {
        return new ProblemException(new Problem(
                HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE,
                "too_many_messages",
                "the array's first " + fitting + " messages are all that is appended at once: their bytes and "
                        + MESSAGE_OVERHEAD_BYTES + " more for each may be " + limitBytes
                        + " together; send them in several requests"));
    }
}
