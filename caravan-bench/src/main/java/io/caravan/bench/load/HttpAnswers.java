package io.caravan.bench.load;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Decodes the responses on one connection with Netty's decoder but without Netty's threads, so that the load's thread
 * never waits for another thread.
 */
final class HttpAnswers implements AnswerReader {
    private final EmbeddedChannel decoder = new EmbeddedChannel(new HttpResponseDecoder());
    private boolean error;

    @Override
    public void read(ByteBuffer bytes, Answers answers) throws IOException {
        decoder.writeInbound(Unpooled.copiedBuffer(bytes));
        for (HttpObject part = decoder.readInbound(); part != null; part = decoder.readInbound()) {
            try {
                take(part, answers);
            } finally {
                ReferenceCountUtil.release(part);
            }
        }
    }

    private void take(HttpObject part, Answers answers) throws IOException {
        if (part.decoderResult().isFailure()) {
            throw new IOException(
                    "received something other than an HTTP response",
                    part.decoderResult().cause());
        }
        if (part instanceof HttpResponse head) {
            error = head.status().codeClass() != HttpStatusClass.SUCCESS;
        }
        if (part instanceof LastHttpContent) {
            answers.answered(error);
        }
    }
}
