package io.caravan.spring.boot;

import io.caravan.DurableListStore;
import io.caravan.ListStore;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * Opens a {@link DurableListStore} with the settings in {@link CaravanProperties}, unless the application defines its
 * own store, and closes the opened store with the context.
 */
@AutoConfiguration
@EnableConfigurationProperties(CaravanProperties.class)
public class CaravanAutoConfiguration {

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean(ListStore.class)
    DurableListStore caravanStore(CaravanProperties properties) {
        return DurableListStore.open(properties.toConfig());
    }
}
