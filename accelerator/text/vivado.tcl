# Makes a Vivado project of {{.Name}}_accelerator_axi on {{.Board}}, and its bitstream: a DMA engine moves pictures and results between
# the processor's memory and the core. Untested: no Vivado and no board were at hand.
#
#   vivado -mode batch -source vivado.tcl
create_project {{.Name}} vivado -part {{.Device}} -force
add_files [glob *.v *.hex]
set_property top {{.Name}}_accelerator_axi [current_fileset]
update_compile_order -fileset sources_1

create_bd_design system
{{- if .Ultra}}
set ps [create_bd_cell -type ip -vlnv xilinx.com:ip:zynq_ultra_ps_e ps]
set_property -dict [list CONFIG.PSU__USE__S_AXI_GP2 1 CONFIG.PSU__USE__M_AXI_GP2 0 CONFIG.PSU__FPGA_PL0_ENABLE 1 \
	CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ {{.MHz}}] $ps
set master /ps/M_AXI_HPM0_FPD; set slave /ps/S_AXI_HP0_FPD; set clock ps/pl_clk0
{{- else}}
set ps [create_bd_cell -type ip -vlnv xilinx.com:ip:processing_system7 ps]
apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 -config {make_external "FIXED_IO, DDR"} $ps
set_property -dict [list CONFIG.PCW_USE_S_AXI_HP0 1 CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ {{.MHz}}] $ps
set master /ps/M_AXI_GP0; set slave /ps/S_AXI_HP0; set clock ps/FCLK_CLK0
{{- end}}
set dma [create_bd_cell -type ip -vlnv xilinx.com:ip:axi_dma dma]
set_property -dict [list CONFIG.c_include_sg 0 CONFIG.c_sg_length_width 24] $dma
foreach {name bytes} {into {{.InBytes}} from 4} {
	set_property CONFIG.M_TDATA_NUM_BYTES $bytes [create_bd_cell -type ip -vlnv xilinx.com:ip:axis_dwidth_converter $name]
}
create_bd_cell -type module -reference {{.Name}}_accelerator_axi core
connect_bd_intf_net [get_bd_intf_pins dma/M_AXIS_MM2S] [get_bd_intf_pins into/S_AXIS]
connect_bd_intf_net [get_bd_intf_pins into/M_AXIS] [get_bd_intf_pins core/s_axis]
connect_bd_intf_net [get_bd_intf_pins core/m_axis] [get_bd_intf_pins from/S_AXIS]
connect_bd_intf_net [get_bd_intf_pins from/M_AXIS] [get_bd_intf_pins dma/S_AXIS_S2MM]
foreach port {dma/S_AXI_LITE core/s_axi} {
	apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config [list Master $master Clk /$clock] [get_bd_intf_pins $port]
}
foreach port {M_AXI_MM2S M_AXI_S2MM} {
	apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config [list Master /dma/$port Slave $slave Clk /$clock] \
		[get_bd_intf_pins $slave]
}
foreach pin {into/aclk from/aclk} { connect_bd_net [get_bd_pins $clock] [get_bd_pins $pin] }
foreach pin {into/aresetn from/aresetn} { connect_bd_net [get_bd_pins core/aresetn] [get_bd_pins $pin] }
assign_bd_address
set_property offset {{.DMA}} [get_bd_addr_segs -of_objects [get_bd_cells ps] -filter {NAME =~ *dma*}]
set_property offset {{.Core}} [get_bd_addr_segs -of_objects [get_bd_cells ps] -filter {NAME =~ *core*}]
validate_bd_design
save_bd_design
add_files -norecurse [make_wrapper -files [get_files system.bd] -top]
set_property top system_wrapper [current_fileset]
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
