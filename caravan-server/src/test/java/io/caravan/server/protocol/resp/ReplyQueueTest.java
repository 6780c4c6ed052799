package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

/** Tests the release of reply buffers when a reply cannot be written. */
class ReplyQueueTest {
    @Test
    void releasesBufferWhenReplyDoesNotFit() {
        ByteBuf small = Unpooled.buffer(1, 1);
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAllocator(new AbstractByteBufAllocator() {
            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                return small;
            }

            @Override
            protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
                return small;
            }

            @Override
            public boolean isDirectBufferPooled() {
                return false;
            }
        });
        Session session = RespFixture.session(channel);
        ReplyQueue queue = session.replies;
        RespFixture.open(session, "PING").complete(Reply.OK);
        assertThatThrownBy(queue::flush).isInstanceOf(IndexOutOfBoundsException.class);
        queue.close();
        assertThat(small.refCnt()).isZero();
    }
}
