package io.caravan.server.cluster;

import io.caravan.server.config.HostPort;
import io.caravan.server.config.PropertiesFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the hosts of a cluster agree on; the same file is on each. Its lines name the group and, for each host, three
 * addresses:
 *
 * <pre>{@code
 * group  = 3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10
 * a.peer = 10.0.0.1:7000
 * a.resp = 10.0.0.1:6380
 * a.http = 10.0.0.1:4437
 * }</pre>
 *
 * @param group what no other cluster is called
 * @param hosts of a new cluster all; later the cluster itself knows which it has
 */
public record ClusterFile(UUID group, List<ClusterHost> hosts) {
    private static final String GROUP = "group";
    private static final Set<String> ADDRESSES = Set.of("peer", "resp", "http");

    public ClusterFile {
        hosts = List.copyOf(hosts);
    }

    /**
     * Reads the file.
     *
     * @throws IOException when it cannot be read or is wrong; the message names it
     */
    public static ClusterFile read(Path file) throws IOException {
        Map<String, String> lines = PropertiesFile.read(file);
        try {
            return of(lines);
        } catch (IllegalArgumentException wrong) {
            throw new IOException(file + ": " + wrong.getMessage(), wrong);
        }
    }

    private static ClusterFile of(Map<String, String> lines) {
        Set<String> ids = new LinkedHashSet<>();
        for (String name : lines.keySet()) {
            int dot = name.lastIndexOf('.');
            if (dot > 0 && ADDRESSES.contains(name.substring(dot + 1))) {
                ids.add(name.substring(0, dot));
            } else if (!name.equals(GROUP)) {
                throw new IllegalArgumentException("'" + name + "' is not 'group', and not a host's name with .peer,"
                        + " .resp or .http behind it");
            }
        }
        List<ClusterHost> hosts = new ArrayList<>();
        Set<HostPort> taken = new LinkedHashSet<>();
        for (String id : ids) {
            ClusterHost host = new ClusterHost(
                    id, address(lines, id + ".peer"), address(lines, id + ".resp"), address(lines, id + ".http"));
            // Refuses an id that no member may have.
            host.member();
            for (HostPort address : List.of(host.peer(), host.resp(), host.http())) {
                if (!taken.add(address)) {
                    throw new IllegalArgumentException(address + " is there twice");
                }
            }
            hosts.add(host);
        }
        return new ClusterFile(group(lines.get(GROUP)), hosts);
    }

    private static UUID group(@Nullable String text) {
        try {
            return UUID.fromString(String.valueOf(text));
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    "'group' must be a UUID, such as uuidgen prints, that no other cluster has; was " + text, wrong);
        }
    }

    private static HostPort address(Map<String, String> lines, String name) {
        String text = lines.get(name);
        if (text == null) {
            throw new IllegalArgumentException("'" + name + "' is missing");
        }
        try {
            HostPort address = HostPort.parse(text);
            if (address.port() == 0) {
                throw new IllegalArgumentException("the port must be known to the others, so it cannot be 0");
            }
            return address;
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException("'" + name + "': " + wrong.getMessage(), wrong);
        }
    }

    /**
     * The host with this id.
     *
     * @throws IllegalArgumentException when there is none
     */
    public ClusterHost host(String id) {
        return hosts.stream()
                .filter(host -> host.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("the cluster has no host '" + id + "', but "
                        + hosts.stream().map(ClusterHost::id).toList()));
    }
}
