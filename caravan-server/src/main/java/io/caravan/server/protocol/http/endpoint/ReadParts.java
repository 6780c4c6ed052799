package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.connection.Gate;
import io.caravan.server.protocol.http.connection.Readiness;
import java.util.concurrent.Executor;

/**
 * What reads of streams share.
 *
 * @param readers runs reads, which may wait
 * @param shared whether shared caches may keep what documents hold
 */
public record ReadParts(Readiness readiness, Executor readers, HttpConfig config, Cursors cursors, boolean shared) {

    /**
     * Runs part of a read on a reading thread, once there is room for its answer, and if the client's token has not
     * been withdrawn since the last part. An exception ends the exchange.
     */
    public void read(Exchange exchange, Runnable part) {
        if (!exchange.answers().room()) {
            awaitRoom(exchange, part);
            return;
        }
        readers.execute(() -> exchange.run(() -> {
            if (!exchange.answers().room()) {
                // Others, who were let in with it, have taken it meanwhile.
                awaitRoom(exchange, part);
                return;
            }
            Gate.checkStillKnown(exchange.principal());
            part.run();
        }));
    }

    private void awaitRoom(Exchange exchange, Runnable part) {
        exchange.answers().whenRoom(() -> {
            if (!exchange.over()) {
                read(exchange, part);
            }
        });
    }
}
