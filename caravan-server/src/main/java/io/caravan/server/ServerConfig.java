package io.caravan.server;

import io.caravan.Durability;
import io.caravan.StoreConfig;
import io.caravan.server.resp.RespLimits;
import java.net.InetSocketAddress;

/**
 * What a server needs to know beside its store.
 *
 * @param resp where to listen for RESP; port 0 is any
 * @param limits what a request may ask for
 * @param durability the store's level, which is told to whoever asks
 */
public record ServerConfig(InetSocketAddress resp, RespLimits limits, Durability durability) {
    /** Room for names and the small words of a request that fills a log buffer. */
    private static final int REQUEST_ROOM_BYTES = 4 * 1024 * 1024;

    /** A config whose limits are those of the store: a request that the store could not take is not read. */
    public static ServerConfig of(InetSocketAddress resp, StoreConfig store) {
        RespLimits limits = new RespLimits(store.maxValueBytes(), store.logBufferBytes() + (long) REQUEST_ROOM_BYTES);
        return new ServerConfig(resp, limits, store.durability());
    }
}
