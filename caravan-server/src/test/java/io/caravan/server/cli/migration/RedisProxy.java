package io.caravan.server.cli.migration;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A proxy that runs an action before it forwards the nth occurrence of a command to a Redis server. */
final class RedisProxy implements AutoCloseable {
    private static final Pattern COMMAND = Pattern.compile("\\*[0-9]+\r\n\\$[0-9]+\r\n([A-Z]+)\r\n");

    private final ServerSocket listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    private final Map<String, Runnable> actions = new ConcurrentHashMap<>();
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();

    RedisProxy(int port) throws IOException {
        TrippedProxy.daemon(() -> {
            while (true) {
                Socket client = listener.accept();
                Socket redis = new Socket(InetAddress.getLoopbackAddress(), port);
                TrippedProxy.daemon(() -> TrippedProxy.pump(redis, client, response -> {}));
                TrippedProxy.daemon(() -> TrippedProxy.pump(client, redis, this::look));
            }
        });
    }

    /** Sets the action for the nth occurrence of the command, counted from 1. */
    RedisProxy at(String command, int nth, Runnable action) {
        actions.put(command + nth, action);
        return this;
    }

    int count(String command) {
        return counts.getOrDefault(command, 0);
    }

    private void look(String requests) {
        Matcher matcher = COMMAND.matcher(requests);
        while (matcher.find()) {
            String command = matcher.group(1);
            Runnable action = actions.remove(command + counts.merge(command, 1, Integer::sum));
            if (action != null) {
                action.run();
            }
        }
    }

    String url() {
        return "redis://127.0.0.1:" + listener.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
