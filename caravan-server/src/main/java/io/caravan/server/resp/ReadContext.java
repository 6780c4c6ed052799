package io.caravan.server.resp;

import io.netty.channel.Channel;

/**
 * What a {@link Reading} needs of its connection.
 *
 * @param channel the client's
 * @param place takes the answer
 * @param wake brings the reading back to a reading thread; on any thread, once for each turn that left it to be woken
 */
record ReadContext(Channel channel, PendingReply place, Runnable wake) {}
