package io.caravan.testing;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A child process that runs a JVM with the class path of this JVM. */
public final class ChildJvm extends ChildProcess {
    /**
     * The default JVM flags of a child. A child lives for seconds, so startup time matters more than peak performance.
     * A server is not warmed up.
     */
    public static final List<String> FLAGS = List.of(
            "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dcaravan.warm-up=false");

    private ChildJvm(List<String> command, Map<String, String> environment, Path log) throws IOException {
        super(command, environment, log);
    }

    /** Starts a JVM that runs a main class, and appends its output to {@code log}. */
    public static ChildJvm start(String mainClass, List<String> arguments, Path log) throws IOException {
        return start(mainClass, arguments, Map.of(), log);
    }

    /**
     * Starts a JVM that runs a main class, and appends its output to {@code log}.
     *
     * @param environment variables in addition to those of this program
     */
    public static ChildJvm start(String mainClass, List<String> arguments, Map<String, String> environment, Path log)
            throws IOException {
        return start(FLAGS, mainClass, arguments, environment, log);
    }

    /** Starts a JVM with the given JVM flags. A JVM whose speed is measured gets no flags. */
    public static ChildJvm start(
            List<String> flags, String mainClass, List<String> arguments, Map<String, String> environment, Path log)
            throws IOException {
        return new ChildJvm(command(flags, mainClass, arguments), environment, log);
    }

    /** Returns the java executable that runs this JVM. */
    public static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /**
     * Returns the command line of a child JVM with the given flags, and with this JVM's class path unless they set one.
     */
    public static List<String> command(List<String> flags, String mainClass, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(java(), "-cp", System.getProperty("java.class.path")));
        command.addAll(openModules());
        command.addAll(flags);
        command.add(mainClass);
        command.addAll(arguments);
        return command;
    }

    /** Returns this JVM's flags that open JDK modules, which a child needs as well. */
    private static List<String> openModules() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--add-"))
                .toList();
    }
}
