package io.caravan.server.cli;

import io.caravan.server.app.SmallFiles;
import io.caravan.server.app.WarmUp;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.FreePorts;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The server in a process of its own, which can be stopped and killed for real. */
public final class ServerProcess implements AutoCloseable {
    private static final Pattern ANNOUNCED =
            Pattern.compile("caravan serves RESP on 127\\.0\\.0\\.1:([0-9]+), HTTP on 127\\.0\\.0\\.1:([0-9]+), .*");
    private static final int TIMEOUT_SECONDS = 60;

    private final Process process;
    private final InetSocketAddress address;
    private final int httpPort;

    private ServerProcess(Process process, InetSocketAddress address, int httpPort) {
        this.process = process;
        this.address = address;
        this.httpPort = httpPort;
    }

    /** How {@link Main} is started as a process. */
    public static List<String> command(List<String> jvmOptions) {
        List<String> command = new ArrayList<>(shortLived());
        command.addAll(jvmOptions);
        command.addAll(ClassArchive.options());
        command.add(Main.class.getName());
        return command;
    }

    /** Java, for a process that lives a short time: starting soon is all. */
    static List<String> shortLived() {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return List.of(java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    }

    public static ServerProcess start(Path data, String... jvmOptions) throws IOException {
        return start(data, List.of(jvmOptions), Map.of(), ProcessBuilder.Redirect.INHERIT);
    }

    /** Starts a server at the ports of one that has ended, with these options of {@code serve}. */
    public static ServerProcess startAgain(Path data, ServerProcess ended, String... options) throws IOException {
        return start(
                data, List.of(), Map.of(), ProcessBuilder.Redirect.INHERIT, ended.port(), ended.httpPort(), options);
    }

    /**
     * Starts a server on free ports, which stay free while it is killed.
     *
     * @param data if this is missing, an empty store is made there first, with {@link SmallFiles}
     * @param environment what it finds in its environment beside what is in ours
     * @param log where its standard error goes
     * @param options of {@code serve}; without {@code --archive} the server has no archive
     */
    public static ServerProcess start(
            Path data,
            List<String> jvmOptions,
            Map<String, String> environment,
            ProcessBuilder.Redirect log,
            String... options)
            throws IOException {
        return start(data, jvmOptions, environment, log, FreePorts.next(), FreePorts.next(), options);
    }

    private static ServerProcess start(
            Path data,
            List<String> jvmOptions,
            Map<String, String> environment,
            ProcessBuilder.Redirect log,
            int respPort,
            int httpPort,
            String[] options)
            throws IOException {
        SmallFiles.make(data, 1);
        List<String> cold = new ArrayList<>(jvmOptions);
        // RecipesIT has a server that warms up.
        cold.add("-D" + WarmUp.PROPERTY + "=false");
        List<String> command = command(cold);
        command.addAll(List.of("serve", "--data", data.toString()));
        command.addAll(List.of("--resp", "127.0.0.1:" + respPort, "--http", "127.0.0.1:" + httpPort));
        command.addAll(List.of(options));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(log);
        builder.environment().put("CARAVAN_ARCHIVE", "none");
        builder.environment().putAll(environment);
        Process process = builder.start();
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        Matcher announced = ANNOUNCED.matcher(line == null ? "" : line);
        if (!announced.matches()) {
            process.destroyForcibly();
            throw new IOException("the server did not start: " + line);
        }
        int port = Integer.parseInt(announced.group(1));
        return new ServerProcess(
                process,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                Integer.parseInt(announced.group(2)));
    }

    public RespClient connect() throws IOException {
        return new RespClient(address);
    }

    public int port() {
        return address.getPort();
    }

    public int httpPort() {
        return httpPort;
    }

    /** Sends SIGTERM, and tells the exit code. */
    int terminate() throws InterruptedException {
        process.destroy();
        return exitCode();
    }

    /** Sends SIGKILL, and tells the exit code. */
    public int kill() throws InterruptedException {
        process.destroyForcibly();
        return exitCode();
    }

    private int exitCode() throws InterruptedException {
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the server did not end");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
