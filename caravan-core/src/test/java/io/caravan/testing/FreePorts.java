package io.caravan.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports of the loopback address for servers that are to listen on a port known before they start, or again after they
 * were stopped. They lie below the range that systems take ports from by themselves (from 32,768 on in Linux, 49,152
 * elsewhere), so that no connection, and no server that takes any port, is given one meanwhile. Threads may share it.
 */
public final class FreePorts {
    private static final int FIRST = 10_240;
    private static final int COUNT = 20_480;

    /** Each process begins somewhere else. */
    private static final AtomicInteger LAST =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(COUNT));

    private FreePorts() {}

    /** A port that nobody listens on, and that this process has not had before. */
    public static int next() {
        for (int tried = 0; tried < COUNT; tried++) {
            int port = FIRST + Math.floorMod(LAST.incrementAndGet(), COUNT);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("none of the ports from " + FIRST + " on is free");
    }

    /** Whether nobody listens on a port. */
    public static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
