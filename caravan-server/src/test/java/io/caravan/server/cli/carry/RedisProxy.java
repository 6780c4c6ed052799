package io.caravan.server.cli.carry;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A proxy in front of a Redis server that runs an action before it forwards the nth occurrence of a command. */
final class RedisProxy implements AutoCloseable {
    private static final Pattern COMMAND = Pattern.compile("\\*[0-9]+\r\n\\$[0-9]+\r\n([A-Z]+)\r\n");

    private final ServerSocket listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    private final int port;
    private final Map<String, Runnable> actions = new ConcurrentHashMap<>();
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();

    RedisProxy(int port) throws IOException {
        this.port = port;
        daemon(() -> {
            while (true) {
                Socket client = listener.accept();
                Socket redis = new Socket(InetAddress.getLoopbackAddress(), port);
                daemon(() -> pump(redis, client, false));
                daemon(() -> pump(client, redis, true));
            }
        });
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void daemon(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException closed) {
                // The end of the connection or of the test.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    /** Sets the action for the nth occurrence of the command, counted from 1. */
    RedisProxy at(String command, int nth, Runnable action) {
        actions.put(command + nth, action);
        return this;
    }

    int count(String command) {
        return counts.getOrDefault(command, 0);
    }

    private void pump(Socket from, Socket to, boolean requests) throws IOException {
        byte[] bytes = new byte[16 * 1024];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(bytes); read > 0; read = in.read(bytes)) {
                if (requests) {
                    look(new String(bytes, 0, read, ISO_8859_1));
                }
                out.write(bytes, 0, read);
            }
        }
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
