package io.caravan.server.net;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.NotSslRecordException;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes connections that TLS does not come about on, and says so in a line. The exception itself is not logged: for a
 * client that speaks plain text it holds what that said, which may be a secret.
 */
final class TlsFailures extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(TlsFailures.class);

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable problem) {
        Throwable cause =
                problem instanceof DecoderException && problem.getCause() != null ? problem.getCause() : problem;
        if (cause instanceof SSLException) {
            LOG.info(
                    "closing {}: {}",
                    context.channel().remoteAddress(),
                    cause instanceof NotSslRecordException ? "it does not speak TLS" : "TLS failed: " + cause);
            context.close();
        } else {
            context.fireExceptionCaught(problem);
        }
    }
}
